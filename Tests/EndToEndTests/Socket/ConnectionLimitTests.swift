import Foundation
import JunctionTesting
import Testing

/// Tests of long lines, closed connections and connection limits.
@Suite struct ConnectionLimitTests {
    @Test func `clients that request the interface a thousand times and read nothing delay no other client`() throws {
        let installation = try Installation.started()
        let line = #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"# + "\n"
        let lines = Array(String(repeating: line, count: 4_000).utf8)
        let flood = try (0..<50).map { _ in
            let client = try installation.connect()
            client.socket.sendWhatFits(lines)
            client.socket.finishSending()
            return client
        }

        let client = try installation.connect()
        let text = try #require(try client.call("daemon.metrics")["text"] as? String)
        let memory = text.split(separator: "\n").first { $0.hasPrefix("junctiond_resident_memory_bytes ") }
        let bytes = try #require(memory?.split(separator: " ").last.flatMap { Int($0) })

        #expect(bytes < 256 << 20)
        #expect(try flood[49].message()["result"] != nil)
    }

    @Test func `a connection over limits.connections is refused with a reason`() throws {
        let installation = try Installation.started(configuration: "[limits]\nconnections = 2")
        let kept = try [installation.connect(), installation.connect()]
        for client in kept { try client.call("daemon.info") }

        let turnedAway = try installation.connect()

        #expect((try turnedAway.message()["error"] as? Object)?["code"] as? Int == 1011)
        #expect(try turnedAway.line() == nil)
        #expect(try kept[0].call("daemon.info")["name"] as? String == "junctiond")
    }

    @Test func `limits.providerCallsPerMinute counts only calls that reach the network`() throws {
        let installation = try Installation.started(configuration: "[limits]\nproviderCallsPerMinute = 3")
        try installation.signInNewUser()
        let client = try installation.connect()
        for _ in 0..<100 { try client.call("token.get") }
        try client.call("session.renew")
        try client.call("session.renew")

        let error = try client.refusal("session.renew")

        #expect(error.code == 1011)
        #expect(error.kind == "busy")
        #expect((error.retryAfter ?? 0) > 0)
        #expect(try client.call("token.get").accessToken != nil)
        #expect(try installation.cloud.counter("tokenRequests") == 3)
    }
}
