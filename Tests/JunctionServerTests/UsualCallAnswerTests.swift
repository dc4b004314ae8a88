import Foundation
import JunctionJSON
import JunctionProtocol
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

@testable import JunctionServer

/// What is answered from what was prepared, beside the long way: whatever happens in between, it is the same.
///
/// A space behind a call means nothing, and takes it the long way.
struct UsualCallAnswerTests {
    /// `JUNCTION_CALLS` asks for another number.
    private static let calls = ProcessInfo.processInfo.environment["JUNCTION_CALLS"].flatMap { Int($0) } ?? 20_000
    private static let callsInARow = 100

    @Test(.enabled(if: OrdinaryCaller.isPossible, "Only root can connect as somebody else"))
    func `calls get the same answers either way, whatever happens in between`() throws {
        let installations = try [Installation(ending: "\n"), Installation(ending: " \n")]
        var random = Randomness(seed: 11)
        var (tokens, refusals) = (0, 0)
        for step in 0..<Self.calls / Self.callsInARow {
            let event = Event.allCases.randomElement(using: &random)!
            let methods = (0..<Self.callsInARow).map { _ in random.next() % 2 == 0 ? "session.status" : "token.get" }
            let answers = try installations.map { installation in
                try installation.happen(event)
                // It may have to be renewed first, and nothing may be under way when the others are compared.
                return try installation.ask(["token.get"]) + installation.ask(methods)
            }
            guard answers[0] == answers[1] else {
                let pair = zip(answers[0], answers[1]).first { $0 != $1 }
                Issue.record("step \(step), after \(event): \(pair as Any)")
                return
            }
            tokens += answers[0].count { $0.contains("accessToken\":\"") }
            refusals += answers[0].count { $0.contains("permissionDenied") }
        }
        #expect(installations[0].server.audit.lines == installations[1].server.audit.lines)
        #expect(try installations[0].server.counters == installations[1].server.counters)
        #expect(tokens > Self.calls / 10)
        #expect(refusals > Self.calls / 20)
    }

    @Test func `what a clock that is set back makes unbelievable is not served, to the millisecond`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let first = try client.result(of: "token.get").text

        server.clock.stepWall(by: .milliseconds(-1_000))
        #expect(try client.result(of: "token.get").text == first)
        #expect(server.provider.renewalCalls == 0)

        server.clock.stepWall(by: .milliseconds(-1))
        #expect(try client.result(of: "token.get").text != first)
        #expect(server.provider.renewalCalls == 1)
    }

    @Test func `a token is not served from its end on, to the millisecond`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let first = try client.result(of: "token.get").text

        server.clock.advance(by: .milliseconds(3_599_999))
        #expect(try client.result(of: "token.get").text == first)
        server.clock.advance(by: .milliseconds(1))
        #expect(try client.result(of: "token.get").text != first)
    }

    @Test func `codes of a sign-in are told either way`() throws {
        let server = try TestServer()
        let client = try server.connect()
        _ = try client.result(of: "session.signIn", #"{"scheme":"device"}"#)

        try client.send(
            #"{"jsonrpc":"2.0","id":1,"method":"session.status"}"# + "\n"
                + #"{"jsonrpc":"2.0","id":1,"method":"session.status"}"# + " \n"
        )
        let answers = [try client.hear(), try client.hear()]

        #expect(answers[0]?.contains("USER-1") == true)
        #expect(answers[0] == answers[1])
    }

    @Test func `answers that the kernel does not take at once come whole, and in the order of the calls`() throws {
        let server = try TestServer()
        let client = try server.connectSignedIn()
        let count = 10_000
        let lines = (0..<count).map { number in
            let method = number % 3 == 0 ? "session.status" : "token.get"
            return #"{"jsonrpc":"2.0","id":\#(number),"method":"\#(method)"}"# + (number % 5 == 0 ? " \n" : "\n")
        }
        let bytes = Array(lines.joined().utf8)
        // Nobody reads the answers to these.
        let sent = client.sendWhatFits(bytes)
        let sending = Thread { try? client.send(Array(bytes[sent...])) }

        for number in 0..<count {
            let answer = try client.hearValue()
            #expect(answer["id"]?.integer == Int64(number))
            #expect(answer["result"]?[number % 3 == 0 ? "state" : "accessToken"] != nil)
        }
        sending.join()
    }

    @Test func `what was sent is wiped before the rest is passed on`() {
        var rest = ByteBuffer(string: "token and more")
        let whole = rest

        rest.wipeAndSkip(6)

        #expect(String(buffer: rest) == "and more")
        #expect(whole.getBytes(at: 0, length: 6) == [UInt8](repeating: 0, count: 6))
    }
}

/// What may happen between two calls.
private enum Event: CaseIterable {
    case nothing, timePasses, timeIsNoticed, clockIsSetBack, clockIsSetBackALittle, clockIsSetForward
    case aliceSignsIn, bobSignsIn, signOut, renewal
    case mayDoBoth, maySeeOnly, mayTakeTokensOnly, mayDoNothing, onlyTheUnitMay, onlyAnotherUnitMay
}

/// A server, who manages it, and a caller who asks for states and tokens in one of two ways.
private struct Installation {
    let server: TestServer
    private let manager: TestClient
    private let caller: TestClient
    private let ending: String

    init(ending: String) throws {
        self.ending = ending
        let policy = Self.policy(.status, .token)
        server = try TestServer(policy, mode: 0o666, unitOfProcess: { _ in "app.service" })
        manager = try server.connectSignedIn()
        caller = try OrdinaryCaller().connect(server.path)
    }

    private static func policy(_ capabilities: Capability..., unit: String? = nil) -> AccessPolicy {
        AccessPolicy(rules: [AccessRule(allow: Set(capabilities), unit: unit)], daemonUser: 0)
    }

    /// The answers, in the order of the calls.
    func ask(_ methods: [String]) throws -> [String] {
        let lines = methods.enumerated().map { #"{"jsonrpc":"2.0","id":\#($0),"method":"\#($1)"}"# + ending }
        try caller.send(lines.joined())
        return try methods.map { _ in try #require(try caller.hear()) }
    }

    func happen(_ event: Event) throws {
        switch event {
        case .nothing: break
        case .timePasses: server.clock.advance(by: .seconds(1_300))
        case .timeIsNoticed: try server.pass(.seconds(1_300))
        case .clockIsSetBack: server.clock.stepWall(by: .milliseconds(-1_100))
        case .clockIsSetBackALittle: server.clock.stepWall(by: .milliseconds(-900))
        case .clockIsSetForward: server.clock.stepWall(by: .seconds(1_300))
        case .aliceSignsIn: _ = try manager.call("session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)
        case .bobSignsIn: _ = try manager.call("session.signIn", #"{"scheme":"signInToken","token":"bob"}"#)
        case .signOut: _ = try manager.call("session.signOut")
        case .renewal: _ = try manager.call("session.renew")
        case .mayDoBoth: try reload(Self.policy(.status, .token))
        case .maySeeOnly: try reload(Self.policy(.status))
        case .mayTakeTokensOnly: try reload(Self.policy(.token))
        case .mayDoNothing: try reload(Self.policy())
        case .onlyTheUnitMay: try reload(Self.policy(.status, .token, unit: "app.service"))
        case .onlyAnotherUnitMay: try reload(Self.policy(.status, .token, unit: "other.service"))
        }
        try settle()
    }

    private func reload(_ policy: AccessPolicy) throws {
        try server.onLoop { [server = server.server] in server.reload(policy: policy, exposesApi: true) }
    }

    /// Waits until nothing is under way.
    private func settle() throws {
        let quiet = server.loop.makePromise(of: Void.self)
        server.loop.execute { [owner = server.owner] in
            owner.assumeIsolated { $0.whenQuiet { quiet.succeed() } }
        }
        try quiet.futureResult.wait()
    }
}
