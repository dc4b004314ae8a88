/// The two network helpers, each in its own process. A malicious API answer that crashes or takes over its helper finds
/// no token of the session there.
enum NetworkHelper: CaseIterable, Sendable {
    /// Sends the requests of the session: sign-in, discovery, user info, renewal, revocation, polls and probes.
    case session
    /// Sends the requests that apps make of the provider's API.
    case api
}

/// A request together with the network helper that sends it. Only the case of this enum decides which helper that is.
enum HelperRequest: Sendable {
    case session(HTTPCall)
    /// A request that a local app makes of its provider's API. A long body may take as long as its size needs on a
    /// slow line, while bytes move. With `isStreamed` the answer is passed on as it arrives: its length is not limited
    /// then, nor its duration while bytes move.
    case api(HTTPCall, isStreamed: Bool)

    var helper: NetworkHelper {
        switch self {
        case .session: .session
        case .api: .api
        }
    }

    var call: HTTPCall {
        switch self {
        case .session(let call), .api(let call, _): call
        }
    }

    /// Whether the request may be repeated on another connection. This holds only for requests of apps: a provider's
    /// own requests are sent once each.
    var mayBeRepeated: Bool { helper == .api && ["GET", "HEAD"].contains(call.method) && call.body == nil }
}
