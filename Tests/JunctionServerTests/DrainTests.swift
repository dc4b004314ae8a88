import Glibc
import JunctionJSON
import JunctionServer
import JunctionTesting
import NIOCore
import Testing

struct DrainTests {
    private let signIn =
        #"{"jsonrpc":"2.0","id":1,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#

    private func drain(_ server: TestServer) -> EventLoopFuture<Void> {
        server.loop.flatSubmit { [server = server.server] in server.drain() }
    }

    @Test func `what was received is answered, then everything is closed and the socket is gone`() throws {
        let server = try TestServer()
        let client = try server.connect()
        let asked = Signal()
        server.provider.hold { asked.give() }
        try client.say(signIn)
        asked.wait()

        let drained = drain(server)
        // The draining has begun when this has run.
        try server.onLoop {}
        server.provider.release()

        #expect(try client.hearValue()["result"]?["userId"]?.string == "alice")
        #expect(try client.hear() == nil)
        try drained.wait()
        #expect(access(server.path, F_OK) != 0)
        #expect(throws: TestFailure.self) { try server.connect() }
    }

    @Test func `requests that wait in the kernel are answered`() throws {
        let server = try TestServer()
        let client = try server.connect()
        _ = try client.result(of: "session.status")

        // While the loop is held, nothing is read.
        let (held, go) = (Signal(), Signal())
        let holding = server.loop.submit {
            held.give()
            go.wait()
        }
        held.wait()
        for id in 1...50 { try client.say(#"{"jsonrpc":"2.0","id":\#(id),"method":"session.status"}"#) }
        try client.send(#"{"jsonrpc":"2.0","id":51,"#)
        let drained = drain(server)
        go.give()

        for id in 1...50 { #expect(try client.hearValue()["id"]?.integer == Int64(id)) }
        // A line that had not arrived as a whole is not called a mistake.
        #expect(try client.hear() == nil)
        try holding.wait()
        try drained.wait()
    }

    @Test func `what cannot be answered in time is given up`() throws {
        let server = try TestServer(patience: .none)
        let client = try server.connect()
        let asked = Signal()
        server.provider.hold { asked.give() }
        try client.say(signIn)
        asked.wait()

        try drain(server).wait()

        #expect(try client.hear() == nil)
        server.provider.release()
    }

    @Test func `a passed socket keeps its file and goes on waiting for the next daemon`() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/s"
        // The service manager's descriptor, and the daemon's.
        let kept = try TestListener(.path(path))
        let passed = dup(kept.descriptor)
        let server = try TestServer()
        try server.loop.flatSubmit { [server = server.server] in
            // swift-format-ignore: NeverUseForceTry
            server.start(on: try! ListeningSocket(adopting: passed))
        }.wait()
        #expect(try TestClient(path).result(of: "session.status").state == "notLoggedIn")

        try drain(server).wait()

        #expect(access(path, F_OK) == 0)
        _ = try TestClient(path)
    }
}
