import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionServer
import Synchronization
import Testing

/// Access rights over the socket: the kernel reports another user to the server.
@Suite(.needsRoot)
struct AccessTests {
    private let caller = OrdinaryCaller()

    private func serve(_ rules: AccessRule...) throws -> TestServer {
        try TestServer(AccessPolicy(rules: rules, daemonUser: 0), mode: 0o666)
    }

    @Test func `without rules, only members of the socket's group may call, and they lack manage`() throws {
        // The socket of a daemon that runs as root has group 0.
        let server = try serve()
        let stranger = try caller.connect(server.path)
        let member = try OrdinaryCaller(supplementaryGroups: [7, 0]).connect(server.path)

        #expect(try stranger.error(of: "session.status").code == 1007)
        #expect(try member.result(of: "session.status").state == "notLoggedIn")
        #expect(try member.error(of: "session.signOut")["data"]?["capability"]?.string == "manage")
    }

    @Test func `a rule by user matches only that user`() throws {
        let server = try serve(AccessRule(allow: [.status], user: 12_345))

        #expect(try caller.connect(server.path).result(of: "session.status").state == "notLoggedIn")
        let other = try OrdinaryCaller(user: 12_346).connect(server.path)
        #expect(try other.error(of: "session.status").code == 1007)
    }

    @Test func `a rule by group matches primary and supplementary members`() throws {
        let server = try serve(AccessRule(allow: [.status], group: 777))
        // More groups than fit into the first system call.
        let many = (1_000..<1_100).map { UInt32($0) } + [777]

        for member in [OrdinaryCaller(group: 777), OrdinaryCaller(supplementaryGroups: many)] {
            #expect(try member.connect(server.path).result(of: "session.status").state == "notLoggedIn")
        }
        #expect(try caller.connect(server.path).error(of: "session.status").code == 1007)
    }

    @Test func `manage alone shows the whole state in the answers to changes, and nowhere else`() throws {
        let server = try serve(AccessRule(allow: [.manage]))
        let client = try caller.connect(server.path)

        let codes = try client.result(of: "session.signIn", #"{"scheme":"device"}"#)
        let signedIn = try client.result(of: "session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)
        let signedOut = try client.result(of: "session.signOut")

        #expect(codes["authorization"]?["userCode"]?.string == "USER-1")
        #expect(signedIn["userId"]?.string == "alice")
        #expect(signedIn["renewal"]?["phase"]?.string == "scheduled")
        #expect(signedOut["storage"]?["status"]?.string == "ok")
        #expect(signedOut["storage"]?["durable"]?.bool == true)
        for method in ["session.status", "session.subscribe"] {
            #expect(try client.error(of: method)["data"]?["capability"]?.string == "status")
        }
    }

    @Test func `the capability is checked before the parameters`() throws {
        let server = try serve(AccessRule(allow: [.status]))
        let client = try caller.connect(server.path)

        let error = try client.error(of: "session.signIn", #"{"scheme":"nonsense"}"#)
        #expect(error.code == 1007)
        #expect(error["data"]?["kind"]?.string == "permissionDenied")
        #expect(error["data"]?["capability"]?.string == "manage")
        #expect(error["data"]?["remedy"]?.string?.hasPrefix("access[0], counted from 0, decides about you") == true)
        #expect(try client.error(of: "session.nonsense").code == -32601)
        #expect(server.audit.lines == ["refused session.signIn manage 12345"])
        #expect(try server.counters.refusals == 1)
    }

    @Test func `every caller may ask for the interface`() throws {
        let server = try serve(AccessRule(allow: [.status], user: 1))

        #expect(try caller.connect(server.path).result(of: "rpc.discover")["openrpc"]?.string == "1.3.2")
    }

    @Test func `every caller may ask for its identity, its capabilities and their basis`() throws {
        let server = try serve(AccessRule(allow: [.manage], user: 1), AccessRule(allow: [.token, .status], group: 777))

        let member = try OrdinaryCaller(group: 777).connect(server.path).result(of: "access.whoami")
        let stranger = try caller.connect(server.path).result(of: "access.whoami")

        #expect(
            member.text == #"{"user":12345,"process":\#(getpid()),"unit":null,"capabilities":["status","token"],"#
                + #""basis":"entry","entry":{"index":1,"group":777}}"#
        )
        // The answer contains nothing about entries for other callers.
        #expect(
            stranger.text
                == #"{"user":12345,"process":\#(getpid()),"unit":null,"capabilities":[],"basis":"none"}"#
        )
        #expect(server.audit.lines.isEmpty)
    }

    @Test func `a caller without rights because of an unknown unit learns that, and not which unit`() throws {
        struct Unknown: Error {}
        let rules = [AccessRule(allow: [.status], unit: "secret-name.service"), AccessRule(allow: [.token])]
        let server = try TestServer(AccessPolicy(rules: rules, daemonUser: 0), mode: 0o666) { _ in throw Unknown() }

        let answer = try caller.connect(server.path).result(of: "access.whoami")

        #expect(answer["basis"]?.string == "unitUnknown")
        #expect(answer["entry"] == nil)
        #expect(answer["capabilities"]?.text == "[]")
    }

    @Test func `a caller whose unit becomes known gets the rights that whoami returns`() throws {
        struct Unknown: Error {}
        let isKnown = Mutex(false)
        let policy = AccessPolicy(rules: [AccessRule(allow: [.status], unit: "app.service")], daemonUser: 0)
        let server = try TestServer(policy, mode: 0o666) { _ in
            guard isKnown.withLock({ $0 }) else { throw Unknown() }
            return "app.service"
        }
        let client = try caller.connect(server.path)
        #expect(try client.error(of: "session.status").code == 1007)

        isKnown.withLock { $0 = true }
        let answer = try client.result(of: "access.whoami")

        #expect(answer["basis"]?.string == "entry")
        #expect(answer["capabilities"]?.text == #"["status"]"#)
        #expect(try client.call("session.status")["error"] == nil)
    }

    @Test func `whoami returns the unit even if no rule names one`() throws {
        let policy = AccessPolicy(rules: [], daemonUser: 0)
        let server = try TestServer(policy, mode: 0o666) { _ in "health-sync.service" }

        let member = try OrdinaryCaller(supplementaryGroups: [0]).connect(server.path).result(of: "access.whoami")

        #expect(member["unit"]?.string == "health-sync.service")
        #expect(member["basis"]?.string == "socketGroup")
        #expect(member["capabilities"]?.text == #"["status","token","api","handle"]"#)
    }

    @Test func `a rule by unit applies while the process that was found in the unit runs`() throws {
        let policy = AccessPolicy(
            rules: [
                AccessRule(allow: [.status, .token], unit: "health-sync.service"),
                AccessRule(allow: [.status]),
            ],
            daemonUser: 0
        )
        let server = try TestServer(policy, mode: 0o666) { process in
            process == getpid() ? "health-sync.service" : nil
        }
        let other = try TestServer(policy, mode: 0o666) { _ in "health-sync.service.evil" }

        #expect(try caller.connect(server.path).error(of: "token.get").code == 1003)
        #expect(try caller.connect(other.path).error(of: "token.get").code == 1007)
    }
}
