import JunctionProtocol
import JunctionSession
import Testing

@testable import JunctionServer

/// How a caller gets a capability that it lacks.
struct AccessAdviceTests {
    private func peer(inUnit unit: String? = nil, isInSocketGroup: Bool = false) -> Peer {
        var peer = Peer(user: 1_000, groups: [1_000, 50], process: 7, isInSocketGroup: isInSocketGroup)
        if let unit { peer.membership = .inUnit(unit) }
        return peer
    }

    private func remedy(_ peer: Peer, lacking capability: Capability, _ rules: AccessRule...) -> String? {
        AccessAdvice(peer, lacking: capability, AccessPolicy(rules: rules, daemonUser: 999)).remedy
    }

    private let addition =
        "add to the daemon's configuration the lines '[[access]]', 'allow = [\"token\"]' and 'user = \"1000\"', and run "
        + "'systemctl reload junctiond'"

    @Test func `a member of the socket's group learns that entries end its rights, and which entry to add`() {
        #expect(
            remedy(peer(isInSocketGroup: true), lacking: .token, AccessRule(allow: [.token], user: 1))
                == "there are [[access]] entries, so the socket's group gives nothing, and no entry is about you: "
                + addition
        )
    }

    @Test func `a caller of whom no entry speaks learns which one to add`() {
        #expect(
            remedy(peer(), lacking: .token, AccessRule(allow: [.token], user: 1))
                == "no [[access]] entry is about you: " + addition
        )
    }

    @Test(arguments: [
        ("sync.service", "unit = \"sync.service\""), ("session-3.scope", "user = \"1000\""),
        ("user@1000.service", "user = \"1000\""),
    ])
    func `the entry is for the service, or else for the user`(unit: String, condition: String) {
        let remedy = remedy(peer(inUnit: unit), lacking: .api, AccessRule(allow: [.api], user: 1))

        #expect(remedy?.contains("'allow = [\"api\"]' and '\(condition)'") == true, "\(remedy ?? "")")
    }

    @Test func `without entries a service is told of SupplementaryGroups, and a user of the group`() {
        let service = remedy(peer(inUnit: "sync.service"), lacking: .token)
        let user = remedy(peer(inUnit: "session-3.scope"), lacking: .token)

        #expect(service == "give sync.service the group of the socket by SupplementaryGroups=, and restart it")
        #expect(user == "have your user added to the group of the socket, and log in again")
    }

    @Test func `a member who wants to manage learns that an entry ends what the group gives`() {
        let remedy = remedy(peer(isInSocketGroup: true), lacking: .manage)

        #expect(remedy?.hasPrefix("ask as root, or add to the daemon's configuration the lines ") == true)
        #expect(
            remedy?.hasSuffix("the socket's group alone gives nothing, so add one for each other caller, too") == true
        )
    }

    @Test func `the entry that decides is named, and what it lacks`() {
        let rules = [AccessRule(allow: [.token], user: 1), AccessRule(allow: [.status], group: 50)]
        let remedy = remedy(peer(), lacking: .token, rules[0], rules[1])

        #expect(
            remedy?.hasPrefix(
                "access[1], counted from 0, decides about you and does not allow it: add \"token\" to its list, or add to the "
                    + "daemon's configuration, before the entry that decides now, the lines "
            ) == true,
            "\(remedy ?? "")"
        )
    }

    @Test func `nothing is said of the unit in an entry that may be about another one`() {
        let remedy = remedy(peer(), lacking: .token, AccessRule(allow: [.token], unit: "secret-name.service"))

        #expect(remedy?.contains("cannot be learnt") == true)
        #expect(remedy?.contains("secret-name") == false)
    }

    @Test func `what the policy allows needs no advice`() {
        #expect(remedy(peer(), lacking: .token, AccessRule(allow: [.token])) == nil)
    }
}
