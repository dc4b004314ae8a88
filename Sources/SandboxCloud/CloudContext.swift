import Hummingbird
import JunctionText
import NIOCore

struct CloudContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request, for faults that close it.
    let channel: any Channel
    var form: Form?
    /// How a fault changes the answer of the token endpoint.
    var tokenShape = TokenShape()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Deviations from the usual form of a token answer.
struct TokenShape: Sendable {
    var expiresInAsString = false
    var omitRefreshToken = false
    /// Members that replace those of the answer. `null` removes a member.
    var members: [String: JSONValue] = [:]

    /// Returns the members of a successful token answer with these deviations applied.
    func applied(to answer: [String: JSONValue]) -> [String: JSONValue] {
        var answer = answer
        if expiresInAsString, case .integer(let seconds) = answer["expires_in"] {
            answer["expires_in"] = .string(String(seconds))
        }
        if omitRefreshToken { answer["refresh_token"] = nil }
        return answer.overlaid(with: members)
    }
}

extension CloudContext {
    /// Returns the form in the body of a token request, or refuses the request.
    func requireForm() throws(TokenRefusal) -> Form {
        guard let form else { throw TokenError.invalidRequest.because("send a form: \(Form.contentType)") }
        try form.requireDistinct()
        return form
    }

    /// Returns a path parameter with its percent escapes decoded, because ids may contain characters that a path must
    /// escape.
    func part(_ name: String) throws -> String {
        PercentEncoding.plain(try parameters.require(name))
    }
}

extension Request {
    /// Returns the origin of the sandbox as the client of the request addresses it.
    func origin(over scheme: String) -> String { "\(scheme)://\(head.authority ?? "127.0.0.1")" }
}
