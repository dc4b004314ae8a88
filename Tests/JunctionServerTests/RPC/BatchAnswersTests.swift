import Glibc
import JunctionTesting
import NIOCore
import NIOPosix
import Testing

@testable import JunctionServer

struct BatchAnswersTests {
    @Test func `the answers of a batch are dropped with its connection, and later ones are not kept`() throws {
        let server = try TestServer()
        let (end, other) = try makeSocketPair()
        defer { close(other) }

        let (channel, connection) = try connect(end, to: server)
        let batch = try server.onLoop {
            let batch = BatchAnswers()
            connection.value.batchBegan(batch)
            for _ in 0..<2 { batch.expectAnswer() }
            batch.oneLess(connection.value)
            batch.add(to: connection.value) { $0.append(UInt8(ascii: "1")) }
            #expect(batch.bytes == 1)
            return NIOLoopBound(batch, eventLoop: server.loop)
        }
        try channel.close().wait()

        try server.onLoop {
            #expect(batch.value.bytes == 0)
            batch.value.add(to: connection.value) { _ in Issue.record("There is nobody who would read it") }
            #expect(batch.value.bytes == 0)
        }
    }

    /// Makes a connection over a socket of the test.
    private func connect(
        _ descriptor: Int32,
        to server: TestServer
    ) throws -> (any Channel, NIOLoopBound<Connection>) {
        let (loop, owner, introspection, audit) = (server.loop, server.owner, server.introspection, server.audit)
        let registry = try server.onLoop {
            let settings = ServerSettings(policy: .own)
            let session = ServedSession(owner: owner, introspection: introspection, observer: audit)
            let dispatcher = Dispatcher(session, settings: settings, eventLoop: loop)
            return NIOLoopBound(ConnectionRegistry(settings, dispatcher: dispatcher, eventLoop: loop), eventLoop: loop)
        }
        let channel = try ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try registry.value.admit(channel, socketGroup: nil) }
            }
            .withConnectedSocket(descriptor).wait()
        let connection = try loop.submit {
            NIOLoopBound(try channel.pipeline.syncOperations.handler(type: Connection.self), eventLoop: loop)
        }.wait()
        return (channel, connection)
    }
}
