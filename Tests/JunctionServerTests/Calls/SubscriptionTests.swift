import Dispatch
import JunctionJSON
import JunctionServer
import JunctionTesting
import Testing

struct SubscriptionTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
    }

    @Test func `the present state comes first, then every new one with a larger revision`() throws {
        let watcher = try server.connect()
        let present = try watcher.result(of: "session.subscribe")
        #expect(present.state == "notLoggedIn")

        let client = try server.connectSignedIn()
        _ = try client.result(of: "session.signOut")

        var revision = present["revision"]?.integer ?? 0
        var states: [String] = []
        while states.last != "notLoggedIn" {
            let news = try watcher.receiveValue()
            #expect(news["method"]?.string == "session.changed")
            #expect(news["id"] == nil)
            let snapshot = try #require(news["params"]?["snapshot"])
            let next = try #require(snapshot["revision"]?.integer)
            #expect(next > revision)
            revision = next
            states.append(try #require(snapshot.state))
        }
        #expect(states.first == "establishing")
        #expect(states.contains("established"))
    }

    @Test func `the answer to a change comes before its notification`() throws {
        let client = try server.connect()
        _ = try client.result(of: "session.subscribe")

        try client.sendLine(#"{"jsonrpc":"2.0","id":5,"method":"session.signOut"}"#)
        #expect(try client.receiveValue()["id"]?.integer == 5)

        try client.sendLine(
            #"{"jsonrpc":"2.0","id":6,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}"#
        )
        var told: [String] = []
        while told.last != "6" { told.append(try client.receiveValue()["id"]?.text ?? "news") }
        #expect(told.contains("news"))
        #expect(try client.receiveValue()["params"]?["snapshot"]?.state == "established")
    }

    @Test func `the present state comes before any notification in a batch, too`() throws {
        let asked = DispatchSemaphore(value: 0)
        server.provider.hold { asked.signal() }
        let watcher = try server.connect()
        try watcher.sendLine(
            #"""
            [{"jsonrpc":"2.0","id":1,"method":"session.subscribe"},\#
            {"jsonrpc":"2.0","id":2,"method":"session.signIn","params":{"scheme":"signInToken","token":"alice"}}]
            """#
        )
        asked.wait()
        // If the notification of this sign-in is sent too early, it has been sent now.
        #expect(try server.connect().result(of: "session.status").state == "establishing")
        server.provider.release()

        let answers = Array(try watcher.receiveValue().elements)
        #expect(answers.count == 2)
        let present = try #require(answers.first { $0["id"]?.integer == 1 }?["result"])
        #expect(present.state == "notLoggedIn")
        while try #require(try watcher.receiveValue()["params"]?["snapshot"]).state != "established" {}
    }

    @Test func `a batch with only a subscribe notification delays no notifications`() throws {
        let watcher = try server.connect()
        try watcher.sendLine(#"[{"jsonrpc":"2.0","method":"session.subscribe"}]"#)
        _ = try watcher.result(of: "session.status")

        _ = try server.connectSignedIn()

        #expect(try watcher.receiveValue()["method"]?.string == "session.changed")
    }

    @Test func `subscribing twice notifies once`() throws {
        let client = try server.connect()
        _ = try client.result(of: "session.subscribe")
        _ = try client.result(of: "session.subscribe")
        #expect(try server.counters.watchers == 1)

        _ = try server.connectSignedIn()

        var revisions: [Int64] = []
        while true {
            let snapshot = try #require(try client.receiveValue()["params"]?["snapshot"])
            revisions.append(try #require(snapshot["revision"]?.integer))
            if snapshot.state == "established" { break }
        }
        #expect(revisions == Array(Set(revisions)).sorted())
    }

    /// Signs in the user of this token, as the app's user with this id.
    private func identify(_ user: String, _ token: String, on client: TestClient) throws {
        let params = #"{"externalUserId":"\#(user)"}"#
        let question = try client.call("session.identify", params)
        let answer = #"{"scheme":"signInToken","token":"\#(token)"}"#
        try client.sendLine(#"{"jsonrpc":"2.0","id":\#(try #require(question["id"]).text),"result":\#(answer)}"#)
        #expect(try client.receiveValue()["result"]?["snapshot"]?["userId"]?.string == token)
    }

    @Test func `a subscription to the state is not notified of a renewal or a switch of users`() throws {
        let (watcher, client) = (try server.connect(), try server.connect())
        #expect(try watcher.result(of: "session.subscribe", #"{"changes":"state"}"#).state == "notLoggedIn")

        try identify("a", "alice", on: client)
        for generation in 2...3 {
            let renewed = try client.result(of: "session.renew")
            #expect(renewed["accessToken"]?["generation"]?.integer == Int64(generation))
            try server.pass(.seconds(11))
        }
        try identify("b", "bob", on: client)
        _ = try client.result(of: "session.signOut")

        var told: [String] = []
        while told.last != "notLoggedIn " {
            let snapshot = try #require(try watcher.receiveValue()["params"]?["snapshot"])
            told.append("\(try #require(snapshot.state)) \(snapshot["userId"]?.string ?? "")")
        }
        #expect(told == ["establishing ", "established alice", "notLoggedIn "])
    }

    @Test func `a second subscription replaces the first one`() throws {
        let (watcher, client) = (try server.connect(), try server.connectSignedIn())
        _ = try watcher.result(of: "session.subscribe")
        #expect(try watcher.result(of: "session.subscribe", #"{"changes":"state"}"#).state == "established")
        #expect(try server.counters.watchers == 1)

        _ = try client.result(of: "session.renew")
        _ = try client.result(of: "session.signOut")

        #expect(try watcher.receiveValue()["params"]?["snapshot"]?.state == "notLoggedIn")
    }

    @Test func `after unsubscribing, no notification is sent`() throws {
        let client = try server.connect()
        _ = try client.result(of: "session.subscribe")
        #expect(try client.result(of: "session.unsubscribe").isNull)

        _ = try server.connectSignedIn()

        #expect(try client.result(of: "session.status").state == "established")
    }

    @Test func `a watcher that does not read gets the newest state when it reads again`() throws {
        // The watcher is not closed for that, however long it takes.
        let server = try TestServer(callsPerMinute: 10_000, timeouts: .with(\.reading, .zero))
        let watcher = try server.connect()
        _ = try watcher.result(of: "session.subscribe")
        let client = try server.connect()

        // Far more than the kernel and the server keep for one connection.
        for _ in 0..<1_000 {
            _ = try client.result(of: "session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)
            _ = try client.result(of: "session.signOut")
        }
        let newest = try #require(try client.result(of: "session.status")["revision"]?.integer)

        var told: [Int64] = []
        while told.last != newest {
            let revision = try watcher.receiveValue()["params"]?["snapshot"]?["revision"]?.integer
            told.append(try #require(revision))
        }
        #expect(told == told.sorted())
        #expect(told.count < Int(newest) - 1)
    }
}
