import Foundation
import JunctionTesting
import Testing

/// The log when whoever reads standard error has stopped: a supervisor that hangs, a terminal that is held.
@Suite struct StalledLogTests {
    @Test func `a reader of the log that has stopped holds up neither answers nor the end`() throws {
        let installation = try Installation(configuration: "[log]\nlevel = \"trace\"")
        try installation.writeConfiguration()
        let notify = try FakeServiceManager(.path)
        let errors = installation.folder.fresh("errors")
        try #require(mkfifo(errors, 0o600) == 0)
        // Somebody has it open for reading, and does not read.
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

        // Each leaves a line of more than fifty bytes in the audit; the pipe holds 64 KiB of them.
        for _ in 0..<1_500 { try client.call("session.signOut") }

        daemon.signal(SIGTERM)
        #expect(try daemon.wait().status == 0)
    }

    @Test func `a start that fails ends, though whoever reads why has stopped`() throws {
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
