import Foundation
import JunctionTesting
import Testing

/// Tests of a log whose reader has stopped, such as a hanging supervisor or a paused terminal.
@Suite struct StalledLogTests {
    @Test func `a stopped log reader delays neither answers nor the shutdown`() throws {
        let installation = try Installation(configuration: "[log]\nlevel = \"trace\"")
        try installation.writeConfiguration()
        let notify = try FakeServiceManager(.path)
        let errors = installation.folder.fresh("errors")
        try #require(mkfifo(errors, 0o600) == 0)
        // A reader that opens the FIFO and does not read.
        let reader = open(errors, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let daemon = try Program(
            "/bin/sh",
            ["-c", "exec \"$0\" \"$@\" 2>\"$ERRORS\"", Program.path(of: "junctiond")] + installation.daemonArguments,
            in: installation.folder,
            environment: ["NOTIFY_SOCKET": notify.name, "ERRORS": errors]
        )
        try notify.waitUntilReady(daemon)
        let client = try installation.connect()

        // Each call writes an audit line of more than 50 bytes, and the pipe holds 64 KiB.
        for _ in 0..<1_500 { try client.call("session.signOut") }

        daemon.signal(SIGTERM)
        #expect(try daemon.wait().status == 0)
    }

    @Test func `a start that fails ends even if the log reader has stopped`() throws {
        let folder = TemporaryFolder()
        let errors = folder.fresh("errors")
        try #require(mkfifo(errors, 0o600) == 0)
        let reader = open(errors, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        while write(reader, "a line of somebody else's\n", 26) > 0 {}

        let daemon = try Program(
            "/bin/sh",
            ["-c", "exec \"$0\" --config /nonexistent 2>\"$ERRORS\"", Program.path(of: "junctiond")],
            in: folder,
            environment: ["ERRORS": errors]
        )

        #expect(try daemon.wait().status == 78)
    }
}
