import Dispatch
import Glibc
import JunctionJSON
import JunctionProtocol
import JunctionSession
import JunctionTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import JunctionServer

/// The socket at which the service manager loads credentials for units. The tests stand in for the service manager: they
/// are root, and bind their end of a connection as systemd does.
@Suite(.enabled(if: OrdinaryCaller.isPossible, "Only root can stand in for the service manager"))
struct CredentialSocketTests {
    private static let unit = "health-sync.service"

    private func policy(_ rules: AccessRule...) -> AccessPolicy { AccessPolicy(rules: rules, daemonUser: 0) }
    private func allowed(_ allow: Capability...) -> AccessPolicy {
        policy(AccessRule(allow: Set(allow), unit: Self.unit))
    }

    /// Returns all bytes that a peer with this address gets.
    private static func load(from path: String, boundTo address: TestAddress?, sending text: String = "") throws
        -> String
    {
        let descriptor = TestAddress.path(path).makeSocket()
        let socket = TestSocket(adopting: descriptor)
        if let address { try #require(address.bind(descriptor)) }
        try #require(TestAddress.path(path).connect(descriptor))
        if text.isEmpty { socket.finishSending() } else { socket.sendWhatFits(Array(text.utf8)) }
        return String(decoding: try socket.lines.rest(), as: UTF8.self)
    }

    private static func address(_ name: String, of unit: String = unit) -> TestAddress {
        .abstract("\(String(UInt64.random(in: 0 ... .max), radix: 16))/unit/\(unit)/\(name)")
    }

    private func load(_ name: String, for unit: String = unit, from server: TestServer) throws -> String {
        try Self.load(from: server.openSocket(speaking: .credentials), boundTo: Self.address(name, of: unit))
    }

    // MARK: What a unit gets

    @Test func `a unit with the rights gets each credential`() throws {
        let server = try TestServer(allowed(.status, .token))
        let client = try server.connectSignedIn()
        let token = try #require(try client.result(of: "token.get")["accessToken"]?.string)

        #expect(try load("access-token", from: server) == token)
        #expect(try load("authorization-header", from: server) == "Authorization: Bearer \(token)")
        #expect(try load("user-id", from: server) == "alice")
        #expect(try load("status", from: server) == client.result(of: "session.status").text)
        #expect(try server.counters.tokensOfUnits.contains { $0.unit == Self.unit && $0.count == 2 })
        #expect(!server.audit.lines.contains { $0.contains("no ") })
    }

    @Test func `the daemon ignores what the peer sends, and its end of the connection`() throws {
        let server = try TestServer(allowed(.status))
        _ = try server.connectSignedIn()
        let path = try server.openSocket(speaking: .credentials)

        for text in [
            "", #"{"jsonrpc":"2.0","id":1,"method":"token.get"}"# + "\n", String(repeating: "x", count: 1 << 16),
        ] {
            #expect(try Self.load(from: path, boundTo: Self.address("user-id"), sending: text) == "alice")
        }
    }

    @Test func `a token that has expired is renewed first`() throws {
        let server = try TestServer(allowed(.token))
        _ = try server.connectSignedIn()
        let first = try load("access-token", from: server)
        server.clock.advance(by: .seconds(7_200))

        let second = try load("access-token", from: server)

        #expect(!second.isEmpty)
        #expect(second != first)
    }

    @Test func `while a renewal fails, a unit waits until one succeeds`() throws {
        let (server, connected) = try serverWhoseRenewalFailed()
        let (path, address) = (try server.openSocket(speaking: .credentials), Self.address("access-token"))
        let loaded = Box<String>()

        let loading = Thread { loaded.set { try Self.load(from: path, boundTo: address) } }
        connected.wait()
        try server.onLoop {}
        try server.pass(.seconds(600))
        loading.join()

        #expect(try !loaded.get().isEmpty)
    }

    /// Returns a server that waits before it repeats a renewal, and the semaphore that it signals for each later
    /// connection. The token has expired.
    private func serverWhoseRenewalFailed(timeouts: ServerSettings.Timeouts = .init()) throws -> (
        TestServer, DispatchSemaphore
    ) {
        let (connected, isReady) = (DispatchSemaphore(value: 0), Flag())
        let server = try TestServer(
            allowed(.token),
            timeouts: timeouts,
            unitOfProcess: { _ in
                if isReady.isSet { connected.signal() }
                return nil
            }
        )
        let client = try server.connectSignedIn()
        server.provider.failRenewals(.unavailable(Unavailability("No network")))
        server.clock.advance(by: .seconds(7_200))
        _ = try client.error(of: "token.get")
        isReady.set()
        return (server, connected)
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    @Test func `if every renewal fails, the log has the reason`() throws {
        let server = try TestServer(allowed(.token), timeouts: .with(\.credential, .milliseconds(1)))
        _ = try server.connectSignedIn()
        server.provider.failRenewals(.unavailable(Unavailability("No network")))
        server.clock.advance(by: .seconds(7_200))

        #expect(try load("access-token", from: server) == "")
        #expect(server.audit.lines.last?.contains("There was no valid token within 0 s") == true)
    }

    @Test func `if the provider wants a new credential, a unit gets nothing at once`() throws {
        let server = try TestServer(allowed(.token), timeouts: .with(\.credential, .seconds(3_600)))
        _ = try server.connectSignedIn()
        server.provider.failRenewals(.reauthenticationRequired)
        server.clock.advance(by: .seconds(7_200))

        #expect(try load("access-token", from: server) == "")
        #expect(server.audit.lines.last?.contains("There was no valid token within") == false)
    }

    @Test func `a daemon that ends does not wait for the next renewal`() throws {
        let (server, connected) = try serverWhoseRenewalFailed(timeouts: .endless)
        let (path, address) = (try server.openSocket(speaking: .credentials), Self.address("access-token"))
        let descriptor = TestAddress.path(path).makeSocket()
        let socket = TestSocket(adopting: descriptor)
        try #require(address.bind(descriptor))
        try #require(TestAddress.path(path).connect(descriptor))
        connected.wait()

        try server.drain().wait()

        #expect(try socket.lines.rest().isEmpty)
    }

    // MARK: Who gets nothing

    @Test func `a unit gets a credential only by an entry that is certain to be about it`() throws {
        let unit = Self.unit
        let token = AccessRule(allow: [.token], unit: unit)
        let cases: [(AccessPolicy, getsToken: Bool)] = [
            (policy(), false), (policy(token), true), (policy(AccessRule(allow: [.status, .token])), true),
            (policy(AccessRule(allow: [.status], unit: unit), token), false),
            (policy(AccessRule(allow: [.token], unit: "other.service")), false),
            (policy(AccessRule(allow: [], unit: "other.service"), token), true),
            // The user and the groups of the unit are not known.
            (policy(AccessRule(allow: [.token], user: 0)), false),
            (policy(AccessRule(allow: [.token], group: 0)), false),
            (policy(AccessRule(allow: [.token], unit: unit, user: 0)), false),
            (policy(AccessRule(allow: [], user: 12_345), token), false),
            (policy(token, AccessRule(allow: [], user: 0)), true),
            (policy(AccessRule(allow: [], unit: "other.service", user: 0), token), true),
        ]
        for (policy, getsToken) in cases {
            let server = try TestServer(policy)
            _ = try server.connectSignedIn()

            #expect(try load("access-token", from: server).isEmpty == !getsToken, "\(policy.rules)")
            #expect(server.audit.lines.contains { $0.hasPrefix("no access-token for \(unit): ") } == !getsToken)
        }
    }

    @Test func `each credential needs its own capability, and the journal says what to add`() throws {
        for (capability, method, names) in [
            (Capability.token, "token.get", ["access-token", "authorization-header"]),
            (.status, "session.status", ["user-id", "status"]),
        ] {
            let others = Set(Capability.allCases).subtracting([capability])
            let server = try TestServer(policy(AccessRule(allow: others, unit: Self.unit)))
            _ = try server.connectSignedIn()
            for name in names { #expect(try load(name, from: server) == "", "\(name)") }

            #expect(server.audit.lines.contains("refused \(method) \(capability.rawValue) 0"))
            let reason = try #require(server.audit.lines.last)
            #expect(reason.hasPrefix("no \(names[1]) for \(Self.unit): "))
            // The advised entry also gives what the unit has now.
            let all = Capability.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            #expect(reason.contains("'allow = [\(all)]' and 'unit = \"\(Self.unit)\"'"))
        }
    }

    @Test func `a user who is not root gets nothing, even with the right address`() throws {
        let server = try TestServer(policy(AccessRule(allow: Set(Capability.allCases))))
        _ = try server.connectSignedIn()
        let path = try server.openSocket(speaking: .credentials)

        let bytes = try OrdinaryCaller().asThis { try Self.load(from: path, boundTo: Self.address("access-token")) }

        #expect(bytes == "")
        #expect(server.audit.lines.last?.contains("does not run as root") == true)
        #expect(server.audit.lines.last?.hasSuffix(" 12345") == true)
    }

    @Test func `root gets nothing without the right address`() throws {
        let server = try TestServer(policy(AccessRule(allow: Set(Capability.allCases))))
        _ = try server.connectSignedIn()
        let path = try server.openSocket(speaking: .credentials)
        let file = TestAddress.path(server.folder.path + "/1f")

        let addresses = [nil, file, .unusedAbstract, Self.address("access-token", of: "a")]
        for (index, address) in addresses.enumerated() {
            #expect(try Self.load(from: path, boundTo: address) == "", "\(String(describing: address))")
            // The first line is the sign-in.
            #expect(server.audit.lines.count == index + 2)
            #expect(server.audit.lines.last?.contains("address") == true)
        }
        #expect(try load("refresh-token", from: server) == "")
        #expect(server.audit.lines.last?.hasPrefix("no refresh-token for \(Self.unit): There is no such") == true)
    }

    @Test func `a process that is in another unit than its address says gets nothing`() throws {
        for (unit, getsUser) in [("init.scope", true), (Self.unit, true), ("user@0.service", false)] {
            let server = try TestServer(allowed(.status), unitOfProcess: { _ in unit })
            _ = try server.connectSignedIn()

            #expect(try load("user-id", from: server).isEmpty == !getsUser, "\(unit)")
            #expect(server.audit.lines.contains { $0.contains("in another unit than its address") } == !getsUser)
        }
    }

    @Test func `a connection over root's limit gets nothing`() throws {
        let server = try TestServer(allowed(.status), limits: .with(\.connections, 1))
        let client = try server.connectSignedIn()

        #expect(try load("user-id", from: server) == "")

        #expect(server.audit.lines.last?.contains("as many connections as it may") == true)
        #expect(try client.result(of: "session.status")["userId"]?.string == "alice")
    }

    // MARK: Nothing to give

    @Test func `while no user is signed in, a unit gets nothing`() throws {
        let server = try TestServer(allowed(.status, .token))

        for name in CredentialName.allCases { #expect(try load(name.rawValue, from: server) == "") }

        #expect(server.audit.lines.count == CredentialName.allCases.count)
        #expect(server.audit.lines.allSatisfy { $0.contains("for \(Self.unit): ") })
    }

    @Test func `without a token in time, a unit gets nothing`() throws {
        let server = try TestServer(allowed(.token), timeouts: .with(\.credential, .milliseconds(1)))
        _ = try server.connectSignedIn()
        server.provider.hold()
        server.clock.advance(by: .seconds(7_200))

        #expect(try load("access-token", from: server) == "")
        #expect(server.audit.lines.last?.contains("no valid token within") == true)
        server.provider.release()
    }

    @Test func `if the daemon ends before there is a token, the log says so`() throws {
        let server = try TestServer(allowed(.token), timeouts: .with(\.drain, .milliseconds(1)))
        _ = try server.connectSignedIn()
        let asked = DispatchSemaphore(value: 0)
        server.provider.hold { asked.signal() }
        server.clock.advance(by: .seconds(7_200))
        let descriptor = TestAddress.path(try server.openSocket(speaking: .credentials)).makeSocket()
        let socket = TestSocket(adopting: descriptor)
        try #require(Self.address("access-token").bind(descriptor))
        try #require(TestAddress.path(try server.openSocket(speaking: .credentials)).connect(descriptor))
        asked.wait()

        try server.drain().wait()

        #expect(try socket.lines.rest().isEmpty)
        #expect(server.audit.lines.contains { $0.contains("The connection was closed before") })
        server.provider.release()
    }

    @Test func `a daemon that could not start gives nothing`() throws {
        let folder = TemporaryFolder()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let settings = ServerSettings(policy: allowed(.status, .token))
        let refusals = Mutex<[String]>([])
        let server = try loop.submit {
            SessionServer(
                startError: WireError(.misconfigured, "nonsense"),
                settings: settings,
                eventLoop: loop,
                reload: { answer in answer(.success([])) },
                credentialRefused: { line in refusals.withLock { $0.append(line) } }
            )
        }.wait()
        let path = folder.path + "/credentials"
        let socket = try ListeningSocket(creatingAt: path)
        try loop.flatSubmit { server.start(on: socket, speaking: .credentials) }.wait()

        #expect(try Self.load(from: path, boundTo: Self.address("access-token")) == "")
        #expect(try Self.load(from: path, boundTo: nil) == "")
        let line = refusals.withLock { $0.first }
        #expect(line?.contains("\(Self.unit) got no credential access-token: nonsense") == true)
        try loop.flatSubmit { server.drain() }.wait()
    }
}
