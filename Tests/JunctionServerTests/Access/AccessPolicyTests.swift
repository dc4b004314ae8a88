import Glibc
import JunctionProtocol
import JunctionSession
import Testing

@testable import JunctionServer

struct AccessPolicyTests {
    private let peer = Peer(user: 1_000, groups: [1_000, 50], process: 7)

    private func capabilities(_ rules: AccessRule..., of peer: Peer? = nil) -> Set<Capability> {
        let rights = AccessPolicy(rules: rules, daemonUser: 999).rights(of: peer ?? self.peer)
        return Set(Capability.allCases.filter(rights.allows))
    }

    private func peer(inUnit unit: String) -> Peer {
        var peer = peer
        peer.membership = .inUnit(unit)
        return peer
    }

    @Test func `root and the daemon's user have every capability under any rules`() {
        for user: UInt32 in [0, 999] {
            let peer = Peer(user: user, groups: [], process: 7)
            #expect(capabilities(AccessRule(allow: []), of: peer) == Set(Capability.allCases))
        }
    }

    @Test func `a decision has its basis`() {
        let rules = [AccessRule(allow: [.status], user: 1), AccessRule(allow: [], group: 50)]
        let policy = AccessPolicy(rules: rules, daemonUser: 999)
        func decision(_ user: UInt32, in groups: Set<UInt32> = [], _ policy: AccessPolicy) -> AccessDecision {
            policy.decision(about: Peer(user: user, groups: groups, process: 7, isInSocketGroup: true))
        }

        #expect(decision(0, policy).basis == .root)
        #expect(decision(999, policy).basis == .daemonUser)
        #expect(decision(7, policy).basis == .none)
        #expect(decision(7, AccessPolicy(rules: [], daemonUser: 999)).basis == .socketGroup)
        #expect(decision(7, in: [50], policy).basis == .entry)
        #expect(decision(7, in: [50], policy).entry?.index == 1)
        #expect(decision(7, in: [50], policy).entry?.rule == rules[1])
    }

    @Test func `without rules, the socket's group has every capability except manage`() {
        let member = Peer(user: 1_000, groups: [50], process: 7, isInSocketGroup: true)

        #expect(capabilities(of: member) == [.status, .token, .api, .handle])
        #expect(capabilities(of: peer) == [])
    }

    @Test func `with rules, the socket's group has no capability`() {
        let member = Peer(user: 1_000, groups: [50], process: 7, isInSocketGroup: true)

        #expect(capabilities(AccessRule(allow: [.api], user: 1), of: member) == [])
    }

    @Test func `a rule for a user who does not exist matches no caller, and the list is not empty`() {
        var nobody = AccessRule(allow: [.manage])
        nobody.matchesNobody = true
        let member = Peer(user: 1_000, groups: [50], process: 7, isInSocketGroup: true)
        #expect(capabilities(nobody, of: member) == [])
        #expect(capabilities(nobody, AccessRule(allow: [.status])) == [.status])
    }

    @Test func `the first rule that matches decides, even if it allows less`() {
        #expect(capabilities(AccessRule(allow: [.status], group: 50), AccessRule(allow: [.manage])) == [.status])
        #expect(capabilities(AccessRule(allow: [], user: 1_000), AccessRule(allow: [.manage])) == [])
    }

    @Test func `a rule without conditions matches every caller`() {
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

    @Test func `rights of a unit depend on the unit`() {
        let policy = AccessPolicy(
            rules: [AccessRule(allow: [.api], unit: "a.service"), AccessRule(allow: [.status])],
            daemonUser: 999
        )

        #expect(policy.rights(of: peer(inUnit: "a.service")).dependsOnUnit)
        var peer = peer
        peer.membership = .inNone
        #expect(!policy.rights(of: peer).dependsOnUnit)
    }

    @Test func `with an unknown unit, an entry that depends on the unit allows nothing and is not skipped`() {
        let denying = AccessRule(allow: [], unit: "a.service")
        let allowing = AccessRule(allow: [.api], unit: "a.service")
        let everybody = AccessRule(allow: [.status])
        var inNone = peer
        inNone.membership = .inNone

        #expect(capabilities(denying, everybody) == [])
        #expect(capabilities(allowing, everybody) == [])
        #expect(capabilities(everybody, denying) == [.status])
        #expect(capabilities(denying, everybody, of: inNone) == [.status])
        #expect(capabilities(AccessRule(allow: [], unit: "a.service", user: 1), everybody) == [.status])
    }

    @Test(arguments: [
        AccessRule(allow: [.token], user: 65_534), AccessRule(allow: [.token], group: 65_534),
        AccessRule(allow: [.token], unit: "a.service", user: 65_534),
    ])
    func `an entry for the id of unmapped users and groups allows nothing and is not skipped`(rule: AccessRule) {
        var unmapped = Peer(user: 65_534, groups: [65_534, 50], process: 7)
        unmapped.membership = .inUnit("a.service")
        let everybody = AccessRule(allow: [.status])

        #expect(capabilities(rule, everybody, of: unmapped) == [])
        #expect(capabilities(rule, everybody) == [.status])
        #expect(AccessPolicy(rules: [rule], daemonUser: 999).decision(about: unmapped).basis == .unmapped)
    }

    @Test func `an unmapped user has the rights of its unit and of its mapped groups`() {
        var unmapped = Peer(user: 65_534, groups: [65_534, 50], process: 7)
        unmapped.membership = .inUnit("a.service")

        #expect(capabilities(AccessRule(allow: [.token], unit: "a.service"), of: unmapped) == [.token])
        #expect(capabilities(AccessRule(allow: [.token], group: 50), of: unmapped) == [.token])
    }

    @Test func `a daemon that runs as an unmapped user gives that user nothing`() {
        let unmapped = Peer(user: 65_534, groups: [], process: 7)

        #expect(AccessPolicy(rules: [], daemonUser: 65_534).rights(of: unmapped).isEmpty)
    }

    @Test func `an unmapped group is never the group of the socket`() {
        #expect(Peer.isSocketGroup(50, among: [50, 65_534]))
        #expect(!Peer.isSocketGroup(51, among: [50, 65_534]))
        #expect(!Peer.isSocketGroup(65_534, among: [50, 65_534]))
        #expect(!Peer.isSocketGroup(nil, among: [50]))
    }
}
