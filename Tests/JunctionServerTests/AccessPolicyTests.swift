import Glibc
import JunctionProtocol
import Testing

@testable import JunctionServer

struct AccessPolicyTests {
    private let peer = Peer(user: 1_000, groups: [1_000, 50], process: 7)

    private func capabilities(_ rules: AccessRule..., of peer: Peer? = nil) -> Set<Capability> {
        let grant = AccessPolicy(rules: rules, daemonUser: 999).grant(to: peer ?? self.peer)
        return Set(Capability.allCases.filter(grant.allows))
    }

    private func peer(inUnit unit: String) -> Peer {
        var peer = peer
        peer.unit = Peer.Unit(name: unit, processStart: 1)
        return peer
    }

    @Test func `root and the daemon's own user may do everything, whatever the rules say`() {
        for user: UInt32 in [0, 999] {
            let peer = Peer(user: user, groups: [], process: 7)
            #expect(capabilities(AccessRule(allow: []), of: peer) == Set(Capability.allCases))
        }
    }

    @Test func `without rules, the socket's group may do everything but manage`() {
        let member = Peer(user: 1_000, groups: [50], process: 7, isInSocketGroup: true)

        #expect(capabilities(of: member) == [.status, .token, .api, .handle])
        #expect(capabilities(of: peer) == [])
    }

    @Test func `with rules, the socket's group means nothing`() {
        let member = Peer(user: 1_000, groups: [50], process: 7, isInSocketGroup: true)

        #expect(capabilities(AccessRule(allow: [.api], user: 1), of: member) == [])
    }

    @Test func `a rule for somebody who does not exist decides for nobody, and keeps the list from being empty`() {
        var nobody = AccessRule(allow: [.manage])
        nobody.matchesNobody = true
        let member = Peer(user: 1_000, groups: [50], process: 7, isInSocketGroup: true)
        #expect(capabilities(nobody, of: member) == [])
        #expect(capabilities(nobody, AccessRule(allow: [.status])) == [.status])
    }

    @Test func `the first rule that matches decides, also when it allows less`() {
        #expect(capabilities(AccessRule(allow: [.status], group: 50), AccessRule(allow: [.manage])) == [.status])
        #expect(capabilities(AccessRule(allow: [], user: 1_000), AccessRule(allow: [.manage])) == [])
    }

    @Test func `a rule without conditions is for everybody`() {
        #expect(capabilities(AccessRule(allow: [.token])) == [.token])
    }

    @Test(arguments: [
        (AccessRule(allow: [.api], unit: "a.service", user: 1_000, group: 50), true),
        (AccessRule(allow: [.api], unit: "b.service", user: 1_000, group: 50), false),
        (AccessRule(allow: [.api], unit: "a.service", user: 1_001, group: 50), false),
        (AccessRule(allow: [.api], unit: "a.service", user: 1_000, group: 51), false),
        (AccessRule(allow: [.api], unit: "a"), false),
        (AccessRule(allow: [.api], unit: "a.service"), true),
    ])
    func `all conditions of a rule must hold`(rule: AccessRule, matches: Bool) {
        #expect(capabilities(rule, of: peer(inUnit: "a.service")) == (matches ? [.api] : []))
    }

    @Test func `a grant that was given to a unit says so`() {
        let policy = AccessPolicy(
            rules: [AccessRule(allow: [.api], unit: "a.service"), AccessRule(allow: [.status])],
            daemonUser: 999
        )

        #expect(policy.grant(to: peer(inUnit: "a.service")).dependsOnUnit)
        #expect(!policy.grant(to: peer).dependsOnUnit)
    }

    @Test func `a unit is current only for the process that it was looked up for`() {
        var peer = Peer(user: 1_000, groups: [], process: getpid())

        peer.findUnit { _ in "a.service" }
        #expect(peer.unit?.name == "a.service")
        #expect(peer.isUnitCurrent)

        peer.unit = Peer.Unit(name: "a.service", processStart: 1)
        #expect(!peer.isUnitCurrent)
    }

    @Test func `a process that is gone has no unit`() {
        var peer = Peer(user: 1_000, groups: [], process: .max)

        peer.findUnit { _ in "a.service" }

        #expect(peer.unit == nil)
        #expect(!peer.isUnitCurrent)
    }
}
