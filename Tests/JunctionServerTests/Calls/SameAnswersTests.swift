import JunctionJSON
import JunctionProtocol
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

@testable import JunctionServer

/// The JSON-RPC socket and the HTTP socket give the same caller the same answers, after any event between two calls.
struct SameAnswersTests {
    @Test(.needsRoot)
    func `both sockets give a caller the same state, token and errors`() throws {
        let policy = Self.policy(.status, .token)
        let server = try TestServer(policy, mode: 0o666, unitOfProcess: { _ in "app.service" })
        let manager = try server.connectSignedIn()
        let (caller, visitor) = (try OrdinaryCaller().connect(server.path), try OrdinaryCaller().connectHTTP(server))
        var random = Randomness(seed: 11)
        var (tokens, refusals) = (0, 0)
        for step in 0..<300 {
            let event = Event.allCases.randomElement(using: &random)!
            try happen(event, server, manager)
            // The token may have to be renewed first. No work may be pending while the answers are compared.
            _ = try caller.call("token.get")
            try settle(server)
            for (method, page) in [("token.get", "token"), ("session.status", "status")] {
                let answer = try caller.call(method)
                let other = try visitor.ask("GET", "/.junction/\(page)", "Junction-Local: true")
                if let result = answer["result"] {
                    if page == "token" { tokens += 1 }
                    #expect(other.text == result.text, "step \(step), after \(event)")
                } else {
                    refusals += 1
                    let problem = try JSONValue.parse(other.body)
                    #expect(
                        problem["kind"]?.string == answer["error"]?["data"]?["kind"]?.string,
                        "step \(step), after \(event)"
                    )
                    #expect(
                        problem["detail"]?.string == answer["error"]?["message"]?.string,
                        "step \(step), after \(event)"
                    )
                }
            }
        }
        #expect(tokens > 60 && refusals > 60)
    }

    /// An event between two calls.
    private enum Event: CaseIterable {
        case nothing, timePasses, clockIsSetBack, clockIsSetForward
        case aliceSignsIn, bobSignsIn, signOut, renewal
        case mayDoBoth, maySeeOnly, mayTakeTokensOnly, mayDoNothing, onlyTheUnitMay, onlyAnotherUnitMay
    }

    private static func policy(_ capabilities: Capability..., unit: String? = nil) -> AccessPolicy {
        AccessPolicy(rules: [AccessRule(allow: Set(capabilities), unit: unit)], daemonUser: 0)
    }

    private func happen(_ event: Event, _ server: TestServer, _ manager: TestClient) throws {
        switch event {
        case .nothing: break
        case .timePasses: try server.pass(.seconds(1_300))
        case .clockIsSetBack: server.clock.stepWall(by: .milliseconds(-1_100))
        case .clockIsSetForward: server.clock.stepWall(by: .seconds(1_300))
        case .aliceSignsIn: _ = try manager.call("session.signIn", #"{"scheme":"signInToken","token":"alice"}"#)
        case .bobSignsIn: _ = try manager.call("session.signIn", #"{"scheme":"signInToken","token":"bob"}"#)
        case .signOut: _ = try manager.call("session.signOut")
        case .renewal: _ = try manager.call("session.renew")
        case .mayDoBoth: try server.reload(Self.policy(.status, .token))
        case .maySeeOnly: try server.reload(Self.policy(.status))
        case .mayTakeTokensOnly: try server.reload(Self.policy(.token))
        case .mayDoNothing: try server.reload(Self.policy())
        case .onlyTheUnitMay: try server.reload(Self.policy(.status, .token, unit: "app.service"))
        case .onlyAnotherUnitMay: try server.reload(Self.policy(.status, .token, unit: "other.service"))
        }
        try settle(server)
    }

    /// Waits until no work is pending.
    private func settle(_ server: TestServer) throws {
        let quiet = server.loop.makePromise(of: Void.self)
        server.loop.execute { [owner = server.owner] in
            owner.assumeIsolated { $0.whenQuiet { quiet.succeed() } }
        }
        try quiet.futureResult.wait()
    }
}
