import JunctionProtocol
import JunctionSession
import Testing

@testable import JunctionServer

/// The advice on how a caller gets a capability that it lacks.
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

    @Test func `a member of the socket's group is advised that entries end its rights, and which entry to add`() {
        #expect(
            remedy(peer(isInSocketGroup: true), lacking: .token, AccessRule(allow: [.token], user: 1))
                == "there are [[access]] entries, so the socket's group gives nothing, and no entry is about you: "
                + addition
        )
    }

    @Test func `a caller that no entry matches is advised which entry to add`() {
        #expect(
            remedy(peer(), lacking: .token, AccessRule(allow: [.token], user: 1))
                == "no [[access]] entry is about you: " + addition
        )
    }

    @Test(arguments: [
        ("sync.service", "unit = \"sync.service\""), ("session-3.scope", "user = \"1000\""),
        ("user@1000.service", "user = \"1000\""),
    ])
    func `the advised entry is for the service, or else for the user`(unit: String, condition: String) {
        let remedy = remedy(peer(inUnit: unit), lacking: .api, AccessRule(allow: [.api], user: 1))

        #expect(remedy?.contains("'allow = [\"api\"]' and '\(condition)'") == true, "\(remedy ?? "")")
    }

    @Test func `without entries, a service is advised to use SupplementaryGroups, and a user to join the group`() {
        let service = remedy(peer(inUnit: "sync.service"), lacking: .token)
        let user = remedy(peer(inUnit: "session-3.scope"), lacking: .token)

        #expect(service == "give sync.service the group of the socket by SupplementaryGroups=, and restart it")
        #expect(user == "have your user added to the group of the socket, and log in again")
    }

    @Test func `a member who lacks manage is advised that an entry ends the rights of the group`() {
        let remedy = remedy(peer(isInSocketGroup: true), lacking: .manage)

        #expect(remedy?.hasPrefix("ask as root, or add to the daemon's configuration the lines ") == true)
        #expect(remedy?.contains(#"allow = ["status", "token", "api", "handle", "manage"]"#) == true, "\(remedy ?? "")")
        #expect(
            remedy?.hasSuffix("takes the rights of the socket's group away, so add an entry for each other caller, too")
                == true
        )
    }

    @Test func `the advice names the entry that decides and the missing capability`() {
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

    @Test func `an entry that is to decide instead gives the caller's present rights, too`() {
        let remedy = remedy(peer(), lacking: .token, AccessRule(allow: [.status, .api], group: 50))

        #expect(
            remedy?.contains("'allow = [\"status\", \"token\", \"api\"]' and 'user = \"1000\"'") == true,
            "\(remedy ?? "")"
        )
    }

    @Test func `the advice does not name the unit of an entry that may not match the caller`() {
        let remedy = remedy(peer(), lacking: .token, AccessRule(allow: [.token], unit: "secret-name.service"))

        #expect(remedy?.contains("cannot find the unit") == true)
        #expect(remedy?.contains("secret-name") == false)
    }

    @Test func `an allowed capability has no advice`() {
        #expect(remedy(peer(), lacking: .token, AccessRule(allow: [.token])) == nil)
    }

    @Test func `a caller whose user is unmapped is not advised to add an entry for that user`() {
        let unmapped = Peer(user: 65_534, groups: [65_534], process: 7)
        let own =
            "run the caller as a user other than nobody, and the daemon outside of containers and without PrivateUsers="

        #expect(
            remedy(unmapped, lacking: .token, AccessRule(allow: [.token], user: 65_534))
                == "an entry for the user or group 65534 (nobody) would decide, and the kernel reports this number for "
                + "everyone that it cannot name to the daemon: \(own)"
        )
        #expect(
            remedy(unmapped, lacking: .token, AccessRule(allow: [.token], user: 1))
                == "no [[access]] entry is about you: \(own)"
        )
    }
}
