package import JunctionJSON

/// The methods that the daemon implements.
package enum Method: Int, Sendable, CaseIterable {
    // Names are compared in this order, so frequent methods come first.
    case tokenGet
    case sessionStatus
    case apiRequest
    case sessionSubscribe
    case sessionUnsubscribe
    case sessionSignIn
    case sessionSignOut
    case sessionIdentify
    case sessionReconcile
    case sessionRenew
    case sessionAuthorizationPage
    case handlerRegister
    case handlerUnregister
    case daemonInfo
    case daemonMetrics
    case daemonDiagnose
    case daemonReload
    case accessWhoami
    case rpcDiscover

    /// Finds the method with this name.
    package init?(_ name: JSONValue) {
        var candidate = Method(rawValue: 0)
        while let method = candidate, !name.stringEquals(method.name) {
            candidate = Method(rawValue: method.rawValue + 1)
        }
        guard let candidate else { return nil }
        self = candidate
    }

    package var definition: any MethodDefinition.Type {
        switch self {
        case .tokenGet: TokenGet.self
        case .sessionStatus: SessionStatus.self
        case .apiRequest: ApiCall.self
        case .sessionSubscribe: SessionSubscribe.self
        case .sessionUnsubscribe: SessionUnsubscribe.self
        case .sessionSignIn: SessionSignIn.self
        case .sessionSignOut: SessionSignOut.self
        case .sessionIdentify: SessionIdentify.self
        case .sessionReconcile: SessionReconcile.self
        case .sessionRenew: SessionRenew.self
        case .sessionAuthorizationPage: SessionAuthorizationPage.self
        case .handlerRegister: HandlerRegister.self
        case .handlerUnregister: HandlerUnregister.self
        case .daemonInfo: DaemonInfo.self
        case .daemonMetrics: DaemonMetrics.self
        case .daemonDiagnose: DaemonDiagnose.self
        case .daemonReload: DaemonReload.self
        case .accessWhoami: AccessWhoami.self
        case .rpcDiscover: RpcDiscover.self
        }
    }

    package var name: StaticString { definition.name }

    /// The capability that the caller needs; `nil` if every caller may call the method.
    package var capability: Capability? { definition.capability }
}

/// The daemon's own calls: a notification, and requests that the peer answers.
package enum DaemonCall: Int, Sendable, CaseIterable {
    case sessionChanged
    case sessionAuthenticate
    case sessionWillRenewAccessToken

    /// Finds the call with this name.
    package init?(_ name: JSONValue) {
        guard let call = Self.allCases.first(where: { name.stringEquals($0.definition.name) }) else { return nil }
        self = call
    }

    package var definition: any MethodDefinition.Type {
        switch self {
        case .sessionChanged: SessionChanged.self
        case .sessionAuthenticate: SessionAuthenticate.self
        case .sessionWillRenewAccessToken: SessionWillRenewAccessToken.self
        }
    }

    /// Whether the daemon waits for an answer.
    package var isRequest: Bool { self != .sessionChanged }
}
