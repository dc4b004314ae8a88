import Foundation
import JunctionTesting
import Testing

/// Tests of long lines, closed connections and connection limits.
@Suite struct ConnectionTests {
    @Test func `a last line without a line break is answered before the connection closes`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()

        client.send(#"{"jsonrpc":"2.0","method":"daemon.info","id":1}"#)
        client.send(bytes: Array(#"{"jsonrpc":"2.0","method":"session.status","id":2}"#.utf8))
        client.socket.finishSending()

        let identifiers = try [client.message(), client.message()].map { $0["id"] as? Int ?? 0 }
        #expect(identifiers.sorted() == [1, 2])
        #expect(try client.line() == nil)
    }

    @Test func `after a half-close pending calls are answered and the subscription ends`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.cloud.fault(["hang": true, "times": 1])
        let client = try installation.watch()
        let renewal = try client.request("session.renew")
        try installation.cloud.wait(for: "hanging")
        client.socket.finishSending()
        try installation.cloud.release()

        var messages: [Object] = []
        while let line = try client.line() {
            messages.append(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object ?? [:])
        }

        #expect(messages.last?["id"] as? Int == renewal)
        #expect((messages.last?["result"] as? Object)?.generation == 2)
        // A notification about the renewal would follow its answer.
        let told = messages.dropLast().compactMap { ($0["params"] as? Object)?["snapshot"] as? Object }
        #expect(!told.contains { $0.generation == 2 })
    }

    @Test func `a line of 1 MiB is read, and a longer one closes the connection with a reason`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()
        let frame = #"{"jsonrpc":"2.0","method":"session.reconcile","params":{"userId":""},"id":1}"#
        let longest = String(repeating: "x", count: (1 << 20) - frame.utf8.count)

        client.send(frame.replacing(#":"""#, with: ":\"\(longest)\""))
        let fits = try client.message()
        client.send(frame.replacing(#":"""#, with: ":\"\(longest)x\""))
        let tooLong = try client.message()

        #expect(fits["id"] as? Int == 1)
        #expect((tooLong["error"] as? Object)?["code"] as? Int == -32600)
        #expect(tooLong["id"] is NSNull)
        #expect(try client.line() == nil)
        #expect(try installation.status().state == "notLoggedIn")
    }

    @Test func `a thousand requests on one connection are all answered`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()
        let line = #"{"jsonrpc":"2.0","method":"session.status","id":0}"#
        client.send(Array(repeating: line, count: 1_000).joined(separator: "\n"))

        for _ in 0..<1_000 { #expect(try client.message()["result"] != nil) }
    }

    @Test func `a peer that sends half a line and disconnects affects no other client`() throws {
        let installation = try Installation.started()

        for _ in 0..<20 {
            let client = try installation.connect()
            client.send(bytes: Array(#"{"jsonrpc":"2.0","method":"session.sig"#.utf8))
        }

        #expect(try installation.status().state == "notLoggedIn")
    }

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
