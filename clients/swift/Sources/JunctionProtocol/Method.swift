package import JunctionJSON

/// The methods that the daemon answers.
package enum Method: Int, Sendable, CaseIterable {
    // Names are compared in this order, so what is called every second comes first.
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

    /// The method with this name, as it stands in a call; nothing is allocated to find it.
    package init?(_ name: JSONValue) {
        let found: Method? = name.lend { name in
            var candidate = Method(rawValue: 0)
            while let method = candidate, !name.stringEquals(method.name) {
                candidate = Method(rawValue: method.rawValue + 1)
            }
            return candidate
        }
        guard let found else { return nil }
        self = found
    }

    /// Everything that is known about the method.
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

    /// Its name on the wire.
    package var name: StaticString { definition.name }

    /// What the caller must be allowed to do; `nil` where everybody may call.
    package var capability: Capability? { definition.capability }
}

/// What the daemon sends on its own account: a notification, and requests that the other side answers.
package enum DaemonCall: Int, Sendable, CaseIterable {
    case sessionChanged
    case sessionAuthenticate
    case sessionWillRenewAccessToken

    /// The call with this name.
    package init?(_ name: JSONValue) {
        guard let call = Self.allCases.first(where: { name.stringEquals($0.definition.name) }) else { return nil }
        self = call
    }

    /// Everything that is known about the call.
    package var definition: any MethodDefinition.Type {
        switch self {
        case .sessionChanged: SessionChanged.self
        case .sessionAuthenticate: SessionAuthenticate.self
        case .sessionWillRenewAccessToken: SessionWillRenewAccessToken.self
        }
    }

    /// Whether it waits for an answer.
    package var isRequest: Bool { self != .sessionChanged }
}
