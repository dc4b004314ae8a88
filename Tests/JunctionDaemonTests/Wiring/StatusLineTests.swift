import JunctionSession
import Testing

@testable import JunctionDaemon

/// What `systemctl status` shows.
struct StatusLineTests {
    @Test func `a renewal that waits for a session handler is told, whether the token is alive or dead`() {
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

    @Test(arguments: [StorageStatus.locked, .damaged, .unavailable])
    func `a storage that cannot be opened is all that counts, and one that is only damaged beside it is not`(
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

    @Test func `nothing of the line identifies the user, whatever the state`() {
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
