import JunctionProtocol
import JunctionSession
import NIOCore

/// What a caller sees of the session state. Only this file decides it, for answers, notifications and HTTP pages.
///
/// | capability | members |
/// |---|---|
/// | `status` | all but the codes of a sign-in that awaits approval |
/// | `manage` | these codes; all others, too, in the answer to a change that the caller itself has made |
/// | neither | `state` and `accessToken` |
extension Caller {
    /// Whether the caller sees more than the members `state` and `accessToken`.
    fileprivate var seesState: Bool { may(.status) }

    /// Whether the caller sees the codes of a sign-in that awaits approval.
    var seesCodes: Bool { may(.manage) }
}

extension Dispatcher {
    /// Returns a function that shows a state to a caller with the right to `status` or `manage`, by its rights at that
    /// time.
    func shown(to caller: Caller) -> @Sendable (JunctionSession.Snapshot) -> WireSnapshot {
        let viewer = NIOLoopBound((owner, caller), eventLoop: eventLoop)
        return { snapshot in
            let (owner, caller) = viewer.value
            return WireSnapshot(snapshot, codes: caller.seesCodes ? owner.assumeIsolated { $0.codes } : nil)
        }
    }

    /// Shows the state after a renewal to a caller who may have no more than the capability `token`.
    func shownOfRenewal(to caller: Caller) -> @Sendable (JunctionSession.Snapshot) -> RenewResult {
        let (viewer, shown) = (NIOLoopBound(caller, eventLoop: eventLoop), shown(to: caller))
        return { snapshot in
            let whole = shown(snapshot)
            guard viewer.value.seesState else { return RenewResult(state: whole.state, accessToken: whole.accessToken) }
            return RenewResult(whole)
        }
    }

}
