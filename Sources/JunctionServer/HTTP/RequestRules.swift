import JunctionProtocol
import JunctionText

struct RequestHead: Equatable {
    var method: String
    /// The request target as it was received.
    var target: String
    /// The values have no blanks around them.
    var headers: [(name: String, value: String)]
    var isHTTP11: Bool

    /// Removes the blanks around the values, which are not part of them (RFC 9110, section 5.5). The parser leaves some.
    init(method: String, target: String, headers: [(name: String, value: String)], isHTTP11: Bool = true) {
        (self.method, self.target, self.isHTTP11) = (method, target, isHTTP11)
        self.headers = headers.map { (name: $0.name, value: Self.withoutBlanks($0.value)) }
    }

    private static func withoutBlanks(_ value: String) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard value.utf8.first.map(isBlank) == true || value.utf8.last.map(isBlank) == true else { return value }
        var rest = value.utf8.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }

    static func == (left: RequestHead, right: RequestHead) -> Bool {
        left.method == right.method && left.target == right.target && left.isHTTP11 == right.isHTTP11
            && left.headers.elementsEqual(right.headers, by: ==)
    }

    var size: Int { headers.reduce(target.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }

    /// Returns all values of a header, whose name is given in lower case.
    fileprivate func values(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// How the body of a request ends.
enum BodyFraming: Equatable {
    case none
    case length(UInt64)
    case chunked
}

struct AdmittedRequest: Equatable {
    enum Aim: Equatable {
        case api(RequestTarget)
        case page(HTTPPage, RequestTarget)
    }

    var aim: Aim
    var body: BodyFraming
    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool
    var keepsAlive: Bool
}

/// A request that is answered with an error and not carried out.
struct RefusedRequest: Error, Equatable {
    var status: Int
    var error: WireError
    /// The allowed methods, for the `Allow` header.
    var allow: String?

    init(_ status: Int, _ code: ErrorCode, _ detail: String, allow: String? = nil) {
        (self.status, error, self.allow) = (status, WireError(code, detail), allow)
    }

    init(_ error: WireError) {
        (status, self.error) = ((error.knownCode ?? .internalError).httpStatus, error)
    }
}

/// Checks a request head. The rules are pure and strict: where they were lenient, another program could read the
/// request differently.
///
/// The parser has already rejected invalid HTTP. The rules still check the length of the body again, because it decides
/// where the next request begins.
enum RequestRules {
    static let host = "junction"
    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    static func admit(_ head: RequestHead) throws(RefusedRequest) -> AdmittedRequest {
        guard head.isHTTP11 else {
            throw RefusedRequest(505, .invalidRequest, "Only HTTP/1.1 is spoken here")
        }
        let body = try framing(of: head)
        try checkHost(of: head)
        try checkOrigin(of: head)
        guard methods.contains(head.method) else {
            throw RefusedRequest(
                405,
                .invalidRequest,
                "The method must be one of \(methods.joined(separator: ", "))",
                allow: methods.joined(separator: ", ")
            )
        }
        guard head.method != "HEAD" || body == .none else {
            throw RefusedRequest(400, .invalidRequest, "A request with the method HEAD has no body")
        }
        let target = try RequestTarget(head.target)
        let (tokens, expects) = (head.list("connection"), head.values("expect"))
        guard !tokens.contains("upgrade"), head.values("upgrade").isEmpty else {
            throw RefusedRequest(400, .invalidRequest, "No other protocol is spoken here: send no Upgrade header")
        }
        guard expects.allSatisfy({ $0.lowercased() == "100-continue" }) else {
            throw RefusedRequest(417, .invalidRequest, "Nothing but 100-continue can be expected")
        }
        return AdmittedRequest(
            aim: try aim(of: head, target, body),
            body: body,
            expectsContinue: !expects.isEmpty && body != .none,
            keepsAlive: !tokens.contains("close")
        )
    }

    // MARK: Where the request ends

    private static func framing(of head: RequestHead) throws(RefusedRequest) -> BodyFraming {
        let (lengths, codings) = (head.values("content-length"), head.values("transfer-encoding"))
        guard lengths.isEmpty || codings.isEmpty else {
            throw RefusedRequest(400, .invalidRequest, "A body has a Content-Length or a Transfer-Encoding, not both")
        }
        if !codings.isEmpty {
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw RefusedRequest(501, .unsupported, "The only Transfer-Encoding is chunked, once")
            }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard lengths.count == 1, !text.isEmpty, text.utf8.count <= 18,
            text.utf8.allSatisfy(\.isASCIIDigit), let length = UInt64(text)
        else {
            throw RefusedRequest(400, .invalidRequest, "Content-Length must be one decimal number")
        }
        return length == 0 ? .none : .length(length)
    }

    // MARK: The origin of the request

    private static func checkHost(of head: RequestHead) throws(RefusedRequest) {
        let hosts = head.values("host")
        guard hosts.count == 1 else {
            throw RefusedRequest(400, .invalidRequest, "A request has one Host header: \(host)")
        }
        // Some clients also name the default port.
        guard [host, host + ":80"].contains(hosts[0].lowercased()) else {
            throw RefusedRequest(421, .invalidRequest, "The Host is \(host): ask for http://\(host)/…")
        }
    }

    /// Whether a browser or a proxy adds this header to requests of others.
    private static func isForeign(_ name: String) -> Bool {
        ["origin", "forwarded", "x-real-ip", "via"].contains(name) || name.hasPrefix("x-forwarded-")
    }

    /// Refuses forwarded requests. The kernel identifies the program that connected; a proxy would act for another
    /// program under its own identity.
    private static func checkOrigin(of head: RequestHead) throws(RefusedRequest) {
        guard let foreign = head.headers.lazy.map({ $0.name.lowercased() }).first(where: isForeign) else { return }
        throw RefusedRequest(
            403,
            .permissionDenied,
            "Only programs on this machine may use this socket: the daemon refuses a request with the header \(foreign)"
        )
    }

    // MARK: The aim of the request

    private static func aim(
        of head: RequestHead,
        _ target: RequestTarget,
        _ body: BodyFraming
    ) throws(RefusedRequest) -> AdmittedRequest.Aim {
        guard target.path == HTTPPage.folder || target.path.hasPrefix(HTTPPage.folder + "/") else {
            return .api(target)
        }
        guard let page = HTTPPage.allCases.first(where: { $0.path == target.path }) else {
            let pages = HTTPPage.allCases.map(\.path).joined(separator: ", ")
            throw RefusedRequest(404, .methodNotFound, "There is no such page: there are \(pages)")
        }
        guard head.method == "GET" else {
            throw RefusedRequest(405, .invalidRequest, "\(page.path) can only be read", allow: "GET")
        }
        guard body == .none else {
            throw RefusedRequest(400, .invalidRequest, "\(page.path) takes no body")
        }
        guard !page.isGuarded || head.values(HTTPPage.guardHeader.lowercased()) == [HTTPPage.guardValue] else {
            throw RefusedRequest(
                403,
                .permissionDenied,
                "\(page.path) takes the header \(HTTPPage.guardHeader): \(HTTPPage.guardValue)"
            )
        }
        return .page(page, target)
    }
}

extension RequestHead {
    /// Returns the elements of a list header.
    fileprivate func list(_ name: String) -> [String] {
        values(name).flatMap { $0.lowercased().split(separator: ",") }.map { $0.filter { $0 != " " && $0 != "\t" } }
    }
}
