import JunctionJSON
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

/// A call of the provider's API, without the credential.
public struct ApiRequest: Hashable, Sendable {
    /// The HTTP method: `GET`, `POST`, …
    public var method: String
    /// The path, beginning with `/`, without the query.
    public var path: String
    /// The query parameters, unescaped.
    public var query: NamedTexts
    /// The header fields. The daemon sets those that carry credentials.
    public var headers: NamedTexts
    /// The body.
    public var body: [UInt8]?

    /// Makes a call.
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

extension ApiRequest: WireParams, WireObject {
    package static let fields = Fields(
        ApiRequest.init(method:path:query:headers:body:),
        Field("method", \.method, .method, "GET, POST, …"),
        Field(
            "path",
            \.path,
            .path,
            """
            one of the signed-in user's own resources, beginning with '/'; a segment ':userId' or '{userId}' is that user's id
            """
        ),
        Field("query", \.query, texts: .ifAny, atMost: mostTexts, "the query, unescaped; at most 256 names"),
        Field(
            "headers",
            \.headers,
            texts: .ifAny,
            atMost: mostTexts,
            "header fields, at most 256; the daemon sets those with credentials"
        ) {
            isToken($0) && isFieldValue($1)
        },
        Field(body: \.body, "what is sent along, as text", base64: "what is sent along, when it is not text")
    )

    /// The most names of the query, and of the headers. In memory, a short name takes many times its bytes.
    package static let mostTexts = 256
}

/// The answer of the provider's API, with any status.
public struct ApiAnswer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields, with names in lower case. The values of a repeated field are joined with commas.
    public var headers: NamedTexts
    /// The body.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int, headers: NamedTexts, body: [UInt8]) {
        self.status = status
        self.headers = headers.joinedByName()
        self.body = body
    }
}

extension ApiAnswer: WireObject {
    package static let fields = Fields(
        at: "result",
        { ApiAnswer(status: $0, headers: $1, body: $2 ?? []) },
        Field("status", \.status, .count, "the HTTP status"),
        Field("headers", \.headers, texts: .always, "header fields, with names in lower case"),
        Field(body: \.body, "what came with it, when it is UTF-8", base64: "what came with it, when it is not UTF-8")
    )
}

extension Form where Value == String {
    fileprivate static var method: Form {
        Form(
            .string,
            "must be an HTTP method",
            read: { value in value.string.flatMap { isToken($0) ? $0 : nil } },
            write: { $1.string($0) }
        )
    }

    fileprivate static var path: Form {
        Form(
            .string,
            "must begin with '/'",
            read: { value in value.string.flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil } },
            write: { $1.string($0) }
        )
    }
}

extension Form where Value == [UInt8] {
    fileprivate static var base64: Form {
        Form(
            .base64,
            "must be base64 of RFC 4648, padded",
            read: { $0.string.flatMap { Base64.decode($0.utf8, .standard) } },
            write: { $1.string(Base64.encode($0)) }
        )
    }
}

/// Whether an object of texts is also written if it is empty.
private enum TextsPresence {
    case always
    case ifAny
}

extension Field where Value == NamedTexts {
    /// Makes a member that is an object of strings.
    fileprivate convenience init(
        _ name: StaticString,
        _ texts: @escaping @Sendable (Root) -> NamedTexts,
        texts presence: TextsPresence,
        atMost most: Int = .max,
        _ summary: String,
        where isAllowed: @escaping @Sendable (String, String) -> Bool = { _, _ in true }
    ) {
        self.init(
            [Member(name, .map(.string), summary, optional: presence == .ifAny)],
            read: { (members) throws(WireMismatch) in try members.texts(name, atMost: most, where: isAllowed) },
            write: { (root, writer) in
                let texts = texts(root)
                if presence == .always || !texts.isEmpty { writer.member(name, texts) }
            }
        )
    }
}

extension Field where Value == [UInt8]? {
    /// Makes the two members of a body: `body` if it is text, otherwise `bodyBase64`.
    fileprivate convenience init(
        body bytes: @escaping @Sendable (Root) -> [UInt8]?,
        _ summary: String,
        base64: String
    ) {
        self.init(
            [
                Member("body", .string, summary, optional: true),
                Member("bodyBase64", .base64, base64, optional: true),
            ],
            read: { (members) throws(WireMismatch) in try members.body() },
            write: { (root, writer) in
                guard let bytes = bytes(root) else { return }
                if let text = String(validating: bytes, as: UTF8.self) {
                    writer.member("body", text)
                } else {
                    writer.member("bodyBase64", Base64.encode(bytes))
                }
            }
        )
    }
}

extension Members {
    /// Reads the body from one of its two members.
    fileprivate func body() throws(WireMismatch) -> [UInt8]? {
        let text = try optional("body", .string).map { Array($0.utf8) }
        let bytes = try optional("bodyBase64", .base64)
        guard text == nil || bytes == nil else { throw mismatch("bodyBase64", "excludes 'body'") }
        return text ?? bytes
    }

    fileprivate func texts(
        _ name: StaticString,
        atMost most: Int = .max,
        where isAllowed: (String, String) -> Bool
    ) throws(WireMismatch) -> NamedTexts {
        guard let object = self[name] else { return [:] }
        guard object.kind == .object else { throw mismatch(name, "must be an object of strings") }
        var texts = NamedTexts()
        for (count, (key, value)) in object.members.enumerated() {
            guard count < most else { throw mismatch(name, "must have at most \(most) names") }
            guard let key = key.string, let value = value.string, isAllowed(key, value) else {
                throw mismatch(name, "must be an object of well-formed strings")
            }
            texts.append(key, value)
        }
        return texts
    }
}

/// Returns whether a text is a token of RFC 9110, as methods and field names are.
private func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
}

/// Returns whether a text is valid as the value of a header field.
private func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
}
