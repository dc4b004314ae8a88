import JunctionSession
import Testing

@testable import JunctionDaemon

/// The text that `systemctl status` shows.
struct StatusLineTests {
    @Test func `the status shows a renewal that waits for a session handler, also after the token's expiry`() {
        var facts = Snapshot.Facts(
            state: .established,
            provider: "social",
            storage: StorageReport(sealedWith: "file")
        )
        facts.userId = "anna"
        facts.renewal.phase = .waitingForHandler
        #expect(StatusLine.text(for: facts) == "A user is signed in; the renewal waits for a session handler")

        facts.state = .tokenExpired
        #expect(
            StatusLine.text(for: facts)
                == "A user is signed in, and the token has expired; the renewal waits for a session handler"
        )
    }

    @Test func `the status ends with the settings that wait for a restart`() {
        let facts = Snapshot.Facts(state: .notLoggedIn, provider: "social", storage: StorageReport(sealedWith: "file"))

        let line = StatusLine.text(for: facts, pendingRestart: ["provider", "tls.caFile"])

        #expect(line == "Nobody is signed in; waiting for a restart: provider, tls.caFile")
    }

    @Test(arguments: [StorageStatus.locked, .damaged, .unavailable])
    func `the status shows unreadable storage first, and readable storage not at all`(
        status: StorageStatus
    ) {
        let unreadable = StorageReport(sealedWith: "file", status: status, reason: "user anna", isReadable: false)
        var facts = Snapshot.Facts(state: .established, provider: "social", storage: unreadable)
        #expect(
            StatusLine.text(for: facts)
                == "No token can be had, the stored session is \(status): run junctionctl doctor"
        )

        facts.storage.isReadable = true
        #expect(StatusLine.text(for: facts) == "A user is signed in")
    }

    @Test func `the status never identifies the user`() {
        for state in SessionState.allCases {
            for status in StorageStatus.allCases {
                var facts = Snapshot.Facts(
                    state: state,
                    provider: "social",
                    storage: StorageReport(sealedWith: "file", durable: false, status: status)
                )
                (facts.userId, facts.teamId, facts.externalUserId) = (
                    "anna", "team-7", ExternalUserId("anna@example.com")
                )
                facts.flags = [.signedIn, .pendingReauthentication]

                let line = StatusLine.text(for: facts)

                #expect(!line.contains("anna") && !line.contains("team-7"), "\(line)")
            }
        }
    }
}
