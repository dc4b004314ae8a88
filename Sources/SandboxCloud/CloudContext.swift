import Hummingbird
import JunctionText
import NIOCore

struct CloudContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request, for faults that close it.
    let channel: any Channel
    var form: Form?
    /// The fault that acts on this request.
    var fault: Fault?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

extension CloudContext {
    /// Returns the members of a successful token answer, as the fault changes them.
    func tokenAnswer(_ members: [String: JSONValue]) -> [String: JSONValue] {
        var members = members
        if fault?.expiresInAsString == true, case .integer(let seconds) = members["expires_in"] {
            members["expires_in"] = .string(String(seconds))
        }
        if fault?.omitRefreshToken == true { members["refresh_token"] = nil }
        return members.overlaid(with: fault?.tokenMembers ?? [:])
    }

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
