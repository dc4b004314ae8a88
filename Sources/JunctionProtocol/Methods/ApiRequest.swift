package import JunctionJSON
import JunctionText

/// Calls the provider's API as the signed-in user; the daemon adds the credential.
package enum ApiCall: MethodDefinition {
    package typealias Params = ApiRequest
    package typealias Answer = ApiAnswer

    package static let name: StaticString = "api.request"
    package static let capability: Capability? = .api
    package static let summary = "Calls the provider's API as the signed-in user; the daemon adds the credential"
    package static let errors: [ErrorCode] = TokenGet.errors
}

/// A call to the provider's API, without the credential.
public struct ApiRequest: Hashable, Sendable {
    /// `GET`, `POST`, …
    public var method: String
    /// The path, beginning with `/`, without the query.
    public var path: String
    /// The query, unescaped.
    public var query: NamedTexts
    /// Header fields; those that carry credentials are the daemon's to set.
    public var headers: NamedTexts
    /// What is sent along.
    public var body: [UInt8]?

    /// Puts a call together.
    public init(
        method: String = "GET",
        path: String,
        query: NamedTexts = [:],
        headers: NamedTexts = [:],
        body: [UInt8]? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

extension ApiRequest: WireParams {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(params: value, of: Self.self)
        method = try members.required("method", "must be an HTTP method") { value in
            value.string.flatMap { isToken($0) ? $0 : nil }
        }
        path = try members.required("path", "must begin with '/'") { value in
            value.string.flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        }
        query = try members.texts("query") { _, _ in true }
        headers = try members.texts("headers") { name, value in isToken(name) && isFieldValue(value) }
        body = try members.body()
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("method", method)
            writer.member("path", path)
            if !query.isEmpty { writer.member("query", query) }
            if !headers.isEmpty { writer.member("headers", headers) }
            if let body { writer.body(body) }
        }
    }

    package static let members = [
        Member("method", .string, "GET, POST, …"),
        Member("path", .string, "one of the signed-in user's own resources, beginning with '/'"),
        Member("query", .map(.string), "the query, unescaped", optional: true),
        Member("headers", .map(.string), "header fields; the daemon sets those with credentials", optional: true),
        Member("body", .string, "what is sent along, as text", optional: true),
        Member("bodyBase64", .base64, "what is sent along, when it is not text", optional: true),
    ]
}

/// What the provider's API answered, whatever its status.
public struct ApiAnswer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// Header fields, with names in lower case; a field that was sent twice is one, joined with commas.
    public var headers: NamedTexts
    /// What came with it.
    public var body: [UInt8]

    /// Puts an answer together.
    public init(status: Int, headers: NamedTexts, body: [UInt8]) {
        self.status = status
        self.headers = headers.joinedByName()
        self.body = body
    }
}

extension ApiAnswer: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "result")
        status = try members.required("status", .count)
        headers = try members.texts("headers") { _, _ in true }
        body = try members.body() ?? []
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("status", status)
            writer.member("headers", headers)
            writer.body(body)
        }
    }

    package static let schema = Schema.object([
        Member("status", .unsigned, "the HTTP status"),
        Member("headers", .map(.string), "header fields, with names in lower case"),
        Member("body", .string, "what came with it, when it is UTF-8", optional: true),
        Member("bodyBase64", .base64, "what came with it, when it is not UTF-8", optional: true),
    ])
}

extension Members {
    /// The body, from whichever of the two members it came in.
    fileprivate func body() throws(WireMismatch) -> [UInt8]? {
        let text = try optional("body", .string).map { Array($0.utf8) }
        let bytes = try optional("bodyBase64", "must be base64 of RFC 4648, padded") { value in
            value.string.flatMap { Base64.decode($0.utf8, .standard) }
        }
        guard text == nil || bytes == nil else { throw mismatch("bodyBase64", "excludes 'body'") }
        return text ?? bytes
    }

    /// An object whose values are all strings.
    fileprivate func texts(
        _ name: StaticString,
        where isAllowed: (String, String) -> Bool
    ) throws(WireMismatch) -> NamedTexts {
        guard let object = self[name] else { return [:] }
        guard object.kind == .object else { throw mismatch(name, "must be an object of strings") }
        var texts = NamedTexts()
        for (key, value) in object.members {
            guard let key = key.string, let value = value.string, isAllowed(key, value) else {
                throw mismatch(name, "must be an object of well-formed strings")
            }
            texts.append(key, value)
        }
        return texts
    }
}

extension JSONWriter {
    fileprivate mutating func body(_ bytes: [UInt8]) {
        if let text = String(validating: bytes, as: UTF8.self) {
            member("body", text)
        } else {
            member("bodyBase64", Base64.encode(bytes))
        }
    }
}

/// Whether it is a token of RFC 9110: what methods and field names are made of.
private func isToken(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
}

/// Whether it can stand in a header without becoming another one.
private func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
}
