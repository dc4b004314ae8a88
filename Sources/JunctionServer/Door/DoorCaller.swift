import JunctionProtocol

/// Whoever is at the other end of a connection that speaks HTTP: who it is by the kernel's word, and what it may do now.
final class DoorCaller: ApiCaller {
    private(set) var peer: Peer
    let account: CallerAccount
    private let descriptor: Int32
    private let reception: Reception
    private var grant: (rights: AccessGrant, policyVersion: Int)?

    init(_ peer: Peer, _ account: CallerAccount, descriptor: Int32, reception: Reception) {
        (self.peer, self.account, self.descriptor, self.reception) = (peer, account, descriptor, reception)
    }

    /// Whether the caller may do this now.
    func may(_ capability: Capability) -> Bool {
        let rights = rights
        return rights.allows(capability) && (!rights.dependsOnUnit || peer.isProcessThere)
    }

    /// Looks up the unit of the caller, if that was not done when it connected.
    func findUnit(_ unitOfProcess: (Int32) throws -> String?) {
        peer.findUnit(unitOfProcess, connectedBy: descriptor, isNew: false)
    }

    /// Why it has to wait with a further request, if so.
    var objection: WireError? {
        if account.inFlight >= reception.limits.inFlight { return .tooManyRequests }
        return account.accepted >= reception.limits.accepted ? .tooMuchAsked : nil
    }

    private var rights: AccessGrant {
        if let grant, grant.policyVersion == reception.policyVersion { return grant.rights }
        let rights = reception.rights(of: peer)
        grant = (rights, reception.policyVersion)
        return rights
    }
}
