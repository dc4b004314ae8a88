import JunctionJSON
import JunctionProtocol
import JunctionServer
import JunctionSession
import JunctionTesting
import Synchronization
import Testing

struct ApiAndDaemonTests {
    @Test func `a call is made as the user, and its answer is returned unchanged`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        server.provider.answerCalls(
            JunctionSession.ApiAnswer(
                status: 404,
                headers: [(name: "Content-Type", value: "text/plain")],
                body: Array("no".utf8)
            )
        )

        let answer = try client.result(
            of: "api.request",
            #"{"method":"GET","path":"/v2/user/alice","query":{"a":"b c"},"headers":{"x-y":"z"}}"#
        )

        #expect(answer.text == #"{"status":404,"headers":{"content-type":"text/plain"},"body":"no"}"#)
        let call = try #require(server.provider.apiCalls.first)
        #expect(call.method == "GET")
        #expect(call.query.map { $0.name + "=" + $0.value } == ["a=b c"])
        #expect(call.headers.map(\.name) == ["x-y"])
        #expect(call.body == nil)
    }

    @Test func `with api.expose off no call is possible, and a reload enables calls`() throws {
        let server = try TestServer(exposesApi: false)
        let client = try server.connectSignedIn()
        let call = #"{"method":"GET","path":"/v2/user/alice"}"#

        let error = try client.error(of: "api.request", call)
        #expect(error.code == 1007)
        #expect(error["message"]?.string?.contains("api.expose") == true)

        try server.reload(.own)
        #expect(try client.result(of: "api.request", call)["status"]?.integer == 200)
    }

    @Test func `the daemon describes itself`() throws {
        let client = try TestServer().connect()

        let info = try client.result(of: "daemon.info")
        #expect(info["name"]?.string == "junctiond")
        #expect(info["uptime"]?.double == 1.5)
        let checks = Array(try #require(try client.result(of: "daemon.diagnose")["checks"]).elements)
        #expect(checks.map { $0["name"]?.string } == ["socket"])
        #expect(try client.result(of: "rpc.discover")["openrpc"]?.string == "1.3.2")
    }

    @Test func `a reload answers with the settings that wait for a restart, or with the error`() throws {
        let server = try TestServer()
        let client = try server.connect()

        server.introspection.reloaded.withLock { $0 = .success(["junction.authUrl"]) }
        let result = try client.result(of: "daemon.reload")
        server.introspection.reloaded.withLock { $0 = .failure(WireError(.misconfigured, "nonsense")) }
        let error = try client.error(of: "daemon.reload")

        #expect(result["pendingRestart"]?.elements.map(\.string) == ["junction.authUrl"])
        #expect(error.code == 1013)
        #expect(error["message"]?.string == "nonsense")
    }

    @Test func `a sign-in that the provider refuses names the settings that wait for a restart`() throws {
        let server = try TestServer()
        let client = try server.connect()
        server.provider.failExchanges(.refused("no such token"))

        server.introspection.reloaded.withLock { $0 = .success(["junction.authUrl"]) }
        let error = try client.error(of: "session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)

        #expect(error.code == 1002)
        #expect(error["message"]?.string?.contains("junction.authUrl") == true)
    }

    @Test(arguments: [
        ("session.signIn", #"{"scheme":"userLogin","userId":"anna"}"#),
        ("session.authorizationPage", #"{"redirectUri":"http://127.0.0.1:1/","state":"s","codeChallenge":"c"}"#),
    ])
    func `an unsupported sign-in is logged with the settings that wait for a restart`(
        method: String,
        params: String
    ) throws {
        let server = try TestServer()
        server.introspection.reloaded.withLock { $0 = .success(["junction.authUrl"]) }

        let error = try server.connect().error(of: method, params)

        #expect(error.code == 1012)
        let line = try #require(server.audit.lines.first)
        #expect(error["message"]?.string?.contains("junction.authUrl") == true)
        #expect(line.hasPrefix("refused a sign-in: "))
        #expect(line.contains("a changed setting waits for a restart (junction.authUrl)"))
    }

    @Test func `calls and tokens are counted`() throws {
        let server = try TestServer()
        let client = try server.connect()

        _ = try client.result(of: "session.status")
        _ = try client.result(of: "session.status")
        _ = try client.error(of: "token.get")
        _ = try client.result(of: "session.subscribe")

        let counters = try server.counters
        #expect(counters.requests(of: .sessionStatus) == 2)
        #expect(counters.requests(of: .tokenGet) == 1)
        #expect(counters.errors == [1_003: 1])
        #expect(counters.acceptedConnections == 1)
        #expect(counters.openConnections == 1)
        #expect(counters.watchers == 1)
        #expect(counters.tokensServed == 0)
        #expect(try client.result(of: "daemon.metrics")["text"]?.string == "statuses 2 watchers 1\n")
    }
}
