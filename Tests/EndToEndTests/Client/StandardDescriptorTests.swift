import Foundation
import JunctionTesting
import Testing

/// Tests of programs that start without standard descriptors, as some service scripts start them.
struct StandardDescriptorTests {
    @Test func `the output of a session handler with closed descriptors does not reach the daemon`() throws {
        let folder = TemporaryFolder()
        let socket = folder.path + "/d.sock"
        let peer = try TestListener(.path(socket))
        let ctl = Program.path(of: "junctionctl")
        let handler = try Program(
            "/bin/sh",
            ["-c", "exec \(ctl) --socket \(socket) handle-renewals --exec 'echo renew' 2>&-"],
            in: folder
        )
        defer { handler.signal(SIGKILL) }
        let daemon = try #require(peer.accept())
        #expect(try daemon.lines.next()?.contains("handler.register") == true)
        try daemon.send(#"{"jsonrpc":"2.0","id":1,"result":{"registered":true}}"# + "\n")

        // After the first answer the handler writes output. The next line must be the second answer.
        for identifier in 7...8 {
            try daemon.send(Self.question(identifier) + "\n")
            #expect(
                try daemon.lines.next() == #"{"jsonrpc":"2.0","id":\#(identifier),"result":{"action":"renew"}}"#
            )
        }
    }

    @Test func `a daemon that starts with all descriptors closed keeps its session`() throws {
        let installation = try Installation()
        let notify = try FakeServiceManager(.path)
        try installation.writeConfiguration()
        let daemon = try Program(
            "/bin/sh",
            ["-c", "exec \"$0\" \"$@\" 0<&- 1>&- 2>&-", Program.path(of: "junctiond")] + installation.daemonArguments,
            in: installation.folder,
            environment: ["NOTIFY_SOCKET": notify.name]
        )
        try notify.waitUntilReady(daemon)
        let user = try installation.signInNewUser()
        daemon.signal(SIGTERM)
        #expect(try daemon.wait().status == 0)

        try installation.startDaemon()

        #expect(try installation.status()["userId"] as? String == user)
    }

    private static func question(_ identifier: Int) -> String {
        """
        {"jsonrpc":"2.0","id":\(identifier),"method":"session.willRenewAccessToken","params":{"renewalId":"1",\
        "reason":"expiring","userId":"joe","expiresAt":null,"deadline":"9999-12-31T23:59:59Z"}}
        """
    }
}
