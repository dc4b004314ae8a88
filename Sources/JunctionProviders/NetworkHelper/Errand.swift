/// The two network helpers, each a process of its own. An API answer that breaks its helper, or breaks into it, meets no token of
/// the session there.
enum NetworkHelper: CaseIterable, Sendable {
    /// Carries the requests of the session: sign-in, discovery, user info, renewal, revocation, polls and probes.
    case session
    /// Carries the requests that apps make of the provider's API.
    case api
}

/// A request, and by its type the network helper that carries it. Nothing else decides which of them that is.
enum Errand: Sendable {
    case session(HttpCall)
    case api(ApiCall)

    var helper: NetworkHelper {
        switch self {
        case .session: .session
        case .api: .api
        }
    }

    var call: HttpCall {
        switch self {
        case .session(let call): call
        case .api(let call): call.http
        }
    }

    /// The answer is handed on as it comes.
    var isStreamed: Bool {
        switch self {
        case .session: false
        case .api(let call): call.isStreamed
        }
    }

    /// Whether the request may be made again on another connection. Only what an app asks for: a vendor's own conversation is made
    /// of single outcomes.
    var mayBeRepeated: Bool { helper == .api && ["GET", "HEAD"].contains(call.method) && call.body == nil }
}
