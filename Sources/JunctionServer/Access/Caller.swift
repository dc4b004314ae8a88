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
    /// Since when nothing of that has moved, as far as it is known.
    var restsSince = NIODeadline.now()
    /// What the present policy gives to the caller.
    private var rights: AccessGrant
    /// The socket of the connection.
    let descriptor: Int32
    private let reception: Reception

    init(_ peer: Peer, _ account: CallerAccount, refusal: WireError?, descriptor: Int32, reception: Reception) {
        (self.peer, self.account, self.refusal) = (peer, account, refusal)
        (self.descriptor, self.reception) = (descriptor, reception)
        unitPlace = reception.dispatcher.unitTally.place(of: peer.unit)
        rights = reception.policy.grant(to: peer)
    }

    var user: UInt32 { account.user }

    // MARK: Rights

    /// Whether the caller may do this now.
    func may(_ capability: Capability) -> Bool { rightsNow.allows(capability) }

    /// How many bytes a line of the caller may have. What a caller without any right can ask is short.
    var longestLine: Int {
        rightsNow.isEmpty ? CallerLimits.longestLineWithoutRights : LineSplitter.longestLine
    }

    /// What was given to a unit ends with the process that was found in the unit.
    private var rightsNow: AccessGrant {
        let rights = rights
        return rights.dependsOnUnit && !peer.isProcessThere ? .nothing : rights
    }

    /// Whether the policy still gives this right to the caller that made a request, also after its process has ended.
    func keeps(_ capability: Capability) -> Bool { rights.allows(capability) }

    /// The policy is another one. A caller that came before any rule named a unit is asked for its unit now.
    func policyChanged() {
        if reception.policy.namesUnits { findUnit() }
        rights = reception.policy.grant(to: peer)
    }

    /// Works out the rights of the caller anew, and returns what they come from; its unit is looked for, if nobody has.
    func decide() -> AccessDecision {
        findUnit()
        let decision = reception.policy.decision(about: peer)
        rights = decision.grant
        return decision
    }

    private func findUnit() {
        peer.findUnit(reception.unitOfProcess, connectedBy: descriptor, isNew: false)
        unitPlace = reception.dispatcher.unitTally.place(of: peer.unit)
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
        reception.settle(account)
    }

    /// The connection keeps so many bytes now. If the user keeps too much, the reception closes the worst of it.
    ///
    /// - Parameter isToBlame: whether the connection keeps more than it has to.
    func charge(_ bytes: Int, for connection: any CallerConnection, isToBlame: Bool) {
        account.held += bytes - held
        (held, restsSince) = (bytes, .now())
        account.holders[ObjectIdentifier(connection)] = isToBlame ? connection : nil
        if account.held > reception.dispatcher.limits.held { reception.relieveSoon(account) }
    }
}
