import Foundation
import JunctionCourier
import JunctionProviders
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOPosix

/// A scripted vendor, the way out to it and a clock: what every test with a network needs.
struct Stage: Sendable {
    var server: ScriptedServer
    var http: OutgoingHttp
    var clock: ManualClock

    /// Sets the stage, lets the test play, and puts everything away, whatever happens.
    static func play(
        _ steps: [ScriptedServer.Step],
        tls: TestAuthority.Certificate? = nil,
        network: NetworkUse? = nil,
        limits: OutgoingHttp.Limits? = nil,
        ownCourier: Bool = false,
        requestTakes: Duration = .zero,
        onRequest: @escaping @Sendable (ScriptedServer.Request) -> Void = { _ in },
        _ test: (Stage) async throws -> Void
    ) async throws {
        let clock = ManualClock(ManualClock.start)
        let server = try await ScriptedServer.start(steps, tls: tls) { request in
            clock.advance(by: requestTakes)
            onRequest(request)
        }
        let isShared = network == nil && limits == nil && !ownCourier
        let http = isShared ? shared[server.port % shared.count] : way(network ?? NetworkUse(), limits ?? .patient)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await test(Stage(server: server, http: http, clock: clock)))
        } catch {
            outcome = .failure(error)
        }
        if !isShared { await http.shutdown() }
        try await server.stop()
        try outcome.get()
    }

    /// A few couriers for everybody who wants nothing special of them: hundreds would starve each other.
    private static let shared = (0..<8).map { _ in way(NetworkUse(), .patient) }

    private static func way(_ network: NetworkUse, _ limits: OutgoingHttp.Limits) -> OutgoingHttp {
        OutgoingHttp(
            eventLoop: ScriptedServer.group.next(),
            courier: .built,
            network: network,
            userAgent: "junctiond/0.0-test",
            limits: limits
        )
    }

    /// A silent server needs an impatient client, whose request a busy machine may hold up: then it gets more time.
    static func play(_ trouble: Trouble, _ test: (Stage) async throws -> Void) async throws {
        guard trouble.isSilent else { return try await play([trouble.step], test) }
        for seconds in [1, 4, 16] {
            let limits = OutgoingHttp.Limits(
                resolve: .seconds(60),
                connect: .seconds(60),
                request: .seconds(seconds)
            )
            do {
                return try await play([trouble.step], limits: limits, test)
            } catch is NeverArrived {}
        }
        throw NeverArrived()
    }

    /// The client gave up before the server had heard of it.
    struct NeverArrived: Error {}

    var junction: JunctionProvider {
        get throws {
            JunctionProvider(
                cloud: try JunctionCloud(authUrl: server.url, apiUrl: server.url),
                http: http,
                clock: clock
            )
        }
    }
}

extension OutgoingHttp.Limits {
    /// A loaded machine must never look like a silent server.
    static let patient = OutgoingHttp.Limits(
        resolve: .seconds(600),
        connect: .seconds(600),
        request: .seconds(600),
        idle: .seconds(3_600)
    )
}

extension IdentityProvider {
    /// For a caller who may call as often as it likes.
    func probe(_ identity: Identity?) async -> [ProbeFinding] { await probe(identity) { nil } }
}

extension SharedSecret {
    var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension CourierPlace {
    /// The program that was built together with the tests, beside them.
    static let built = CourierPlace.program(path: Program.path(of: "junctiond-courier"))
}
