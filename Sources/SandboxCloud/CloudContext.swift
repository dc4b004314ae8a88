import Hummingbird
import NIOCore

/// What is known about one request besides the request.
struct CloudContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection it came on, for the faults that close it.
    let channel: any Channel
    /// Its body, if that is a form.
    var form: Form?
    /// How a fault wants the token endpoint's answer to look.
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
    /// Members that replace those of the answer; `null` takes one away.
    var members: [String: JSONValue] = [:]

    /// A success of a token endpoint in this form.
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
    /// The form in the body of a request of tokens.
    func requireForm() throws(TokenRefusal) -> Form {
        guard let form else { throw TokenError.invalidRequest.because("send a form: \(Form.contentType)") }
        try form.requireDistinct()
        return form
    }

    /// A part of the path, without its escapes: ids may hold characters that a path cannot.
    func part(_ name: String) throws -> String {
        PercentText.plain(try parameters.require(name))
    }
}
