import JunctionProtocol
import NIOCore

/// The local program at the other end of a connection, over either socket: who it is by the kernel's word, what it may do now, and
/// which account it is charged to.
final class Caller {
    private(set) var peer: Peer
    let account: CallerAccount
    /// Why the caller is not served, if so.
    let refusal: WireError?
    /// Where the tokens that the caller is handed are counted.
    private(set) var unitPlace: UnitTally.Place
    /// The bytes that the account is charged with for the connection.
    private(set) var held = 0
    /// When the kept bytes last changed or the peer last read.
    var restsSince = NIODeadline.now()
    /// What the policy of `policyVersion` gives to the caller.
    private var rights: AccessGrant
    private var policyVersion: Int
    /// The socket of the connection. After its end the number may be another socket's.
    let descriptor: Int32
    private(set) var isConnected = true
    private let registry: ConnectionRegistry

    init(_ peer: Peer, _ account: CallerAccount, refusal: WireError?, descriptor: Int32, registry: ConnectionRegistry) {
        (self.peer, self.account, self.refusal) = (peer, account, refusal)
        (self.descriptor, self.registry) = (descriptor, registry)
        unitPlace = registry.dispatcher.unitTally.place(of: peer.unit)
        (rights, policyVersion) = (registry.policy.grant(to: peer), registry.policyVersion)
    }

    /// The connection has ended. What the caller has asked for is still carried out, as long as the policy allows it.
    func connectionClosed() { isConnected = false }

    var user: UInt32 { account.user }

    // MARK: Rights

    /// Whether the caller may do this now.
    func may(_ capability: Capability) -> Bool { rightsNow.allows(capability) }

    /// How many bytes a line of the caller may have. What a caller without any right can ask is short.
    var longestLine: Int {
        rightsNow.isEmpty ? CallerLimits.longestLineWithoutRights : LineSplitter.longestLine
    }

    /// Rights that were granted by unit end when the process that connected ends.
    private var rightsNow: AccessGrant {
        let rights = rightsByPolicy
        return rights.dependsOnUnit && !peer.isProcessThere ? .nothing : rights
    }

    /// Like `may`, but also after the process that connected has ended.
    func policyAllows(_ capability: Capability) -> Bool { rightsByPolicy.allows(capability) }

    /// What the present policy gives to the caller. A caller that has gone works it out when it is asked for.
    private var rightsByPolicy: AccessGrant {
        if policyVersion != registry.policyVersion {
            (rights, policyVersion) = (registry.policy.grant(to: peer), registry.policyVersion)
        }
        return rights
    }

    /// Looks up the unit of a caller that is connected, if the new policy names units and it is not known.
    func policyChanged() {
        if registry.policy.namesUnits { findUnit() }
    }

    /// How the caller gets a capability that it lacks, by what the policy says about it.
    func remedy(lacking capability: Capability) -> String? {
        AccessAdvice(peer, lacking: capability, registry.policy).remedy
    }

    /// Looks up the caller's unit if it is not known, works out the rights anew, and returns the rule that decided.
    func decide() -> AccessDecision {
        findUnit()
        let decision = registry.policy.decision(about: peer)
        (rights, policyVersion) = (decision.grant, registry.policyVersion)
        return decision
    }

    private func findUnit() {
        guard isConnected else { return }
        // On a copy: an access to `peer` during the look-up would have every access to it checked at run time.
        var peer = peer
        peer.findUnit(registry.unitOfProcess, connectedBy: descriptor, isNew: false)
        self.peer = peer
        unitPlace = registry.dispatcher.unitTally.place(of: peer.unit)
    }

    // MARK: Requests

    /// A request of so many bytes is answered later.
    func requestBegan(_ bytes: Int) {
        account.inFlight += 1
        account.accepted += bytes
    }

    func requestEnded(_ bytes: Int) {
        account.inFlight -= 1
        account.accepted -= bytes
        registry.settle(account)
    }

    /// Records that the connection keeps `bytes`. If the user is over the limit, `ConnectionRegistry` closes the heaviest connections.
    ///
    /// - Parameter isToBlame: whether the connection keeps more than it has to.
    func charge(_ bytes: Int, for connection: any CallerConnection, isToBlame: Bool) {
        account.held += bytes - held
        (held, restsSince) = (bytes, .now())
        account.holders[ObjectIdentifier(connection)] = isToBlame ? connection : nil
        if account.held > registry.dispatcher.limits.held { registry.relieveSoon(account) }
    }
}
