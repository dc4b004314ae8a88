import JunctionProtocol
import NIOCore

/// The local program at the other end of a connection, over either socket: its identity according to the kernel, its
/// present rights, and the account of its user.
final class Caller {
    private(set) var peer: Peer
    let account: CallerAccount
    /// The reason for which the caller is not served; `nil` if it is served.
    let refusal: WireError?
    /// The counter for the tokens that the caller receives.
    private(set) var unitPlace: UnitCounters.Place
    /// The bytes that the connection has charged to the account.
    private(set) var held = 0
    /// When the kept bytes last changed or the peer last read.
    var restsSince = NIODeadline.now()
    /// What the policy of `policyVersion` gives to the caller.
    private var rights: AccessRights
    private var policyVersion: Int
    /// The descriptor of the connection's socket. After the connection has ended, another socket may have this number.
    let descriptor: Int32
    private(set) var isConnected = true
    private let registry: ConnectionRegistry

    init(_ peer: Peer, _ account: CallerAccount, refusal: WireError?, descriptor: Int32, registry: ConnectionRegistry) {
        (self.peer, self.account, self.refusal) = (peer, account, refusal)
        (self.descriptor, self.registry) = (descriptor, registry)
        unitPlace = registry.dispatcher.unitCounters.place(of: peer.unit)
        (rights, policyVersion) = (registry.policy.rights(of: peer), registry.policyVersion)
    }

    /// Records that the connection has ended. The daemon still carries out the caller's requests, as long as the policy
    /// allows them.
    func connectionClosed() { isConnected = false }

    var user: UInt32 { account.user }

    // MARK: Rights

    /// Whether the caller has this capability now.
    func may(_ capability: Capability) -> Bool { rightsNow.allows(capability) }

    /// The longest line, in bytes, that the daemon accepts from the caller. A caller without any right can only send
    /// short requests.
    var longestLine: Int {
        rightsNow.isEmpty ? CallerLimits.longestLineWithoutRights : LineSplitter.longestLine
    }

    /// The rights now. Rights that were granted to a unit end when the process that connected ends.
    private var rightsNow: AccessRights {
        let rights = rightsByPolicy
        return rights.dependsOnUnit && !peer.isProcessThere ? .nothing : rights
    }

    /// Whether the policy gives the caller this capability, even if the process that connected has ended.
    func policyAllows(_ capability: Capability) -> Bool { rightsByPolicy.allows(capability) }

    /// The rights under the present policy, recomputed if the policy has changed.
    private var rightsByPolicy: AccessRights {
        if policyVersion != registry.policyVersion {
            (rights, policyVersion) = (registry.policy.rights(of: peer), registry.policyVersion)
        }
        return rights
    }

    /// Looks up the caller's unit if the new policy names units, the unit is not known, and the caller is connected.
    func policyChanged() {
        if registry.policy.namesUnits { findUnit() }
    }

    /// Returns advice on how the caller gets a capability that it lacks.
    func remedy(lacking capability: Capability) -> String? {
        AccessAdvice(peer, lacking: capability, registry.policy).remedy
    }

    /// Looks up the caller's unit if it is not known, recomputes the rights, and returns the decision.
    func decide() -> AccessDecision {
        findUnit()
        let decision = registry.policy.decision(about: peer)
        (rights, policyVersion) = (decision.rights, registry.policyVersion)
        return decision
    }

    private func findUnit() {
        guard isConnected else { return }
        // Uses a copy. If the look-up accessed `peer` itself, Swift would check every access to `peer` at run time.
        var peer = peer
        peer.findUnit(registry.unitOfProcess, connectedBy: descriptor, isNew: false)
        self.peer = peer
        unitPlace = registry.dispatcher.unitCounters.place(of: peer.unit)
    }

    // MARK: Requests

    /// Charges a request of `bytes` bytes to the account until it is answered.
    func requestBegan(_ bytes: Int) {
        account.inFlight += 1
        account.accepted += bytes
    }

    func requestEnded(_ bytes: Int) {
        account.inFlight -= 1
        account.accepted -= bytes
        registry.removeIfIdle(account)
    }

    /// Charges the account with the `bytes` that the connection keeps. If the user is over the limit,
    /// `ConnectionRegistry` closes connections, first those that have kept the most bytes for the longest time.
    ///
    /// - Parameter mayBeClosed: whether the connection keeps more than it needs to, so that it may be closed.
    func charge(_ bytes: Int, for connection: any CallerConnection, mayBeClosed: Bool) {
        account.held += bytes - held
        (held, restsSince) = (bytes, .now())
        account.holders[ObjectIdentifier(connection)] = mayBeClosed ? connection : nil
        if account.held > registry.dispatcher.limits.held { registry.enforceBudgetSoon(account) }
    }
}
