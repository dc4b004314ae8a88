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
        #expect(StatusLine.text(for: facts) == "User anna is signed in; the renewal waits for a session handler")

        facts.state = .tokenExpired
        #expect(
            StatusLine.text(for: facts)
                == "User anna is signed in, and the token has expired; the renewal waits for a session handler"
        )
    }
}
