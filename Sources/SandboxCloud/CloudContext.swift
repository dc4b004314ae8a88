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
}
