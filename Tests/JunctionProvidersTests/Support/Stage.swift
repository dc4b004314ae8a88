import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOPosix

@testable import JunctionProviders

/// The fixture of every test with a network: a scripted server, a client for it and a clock.
struct Stage: Sendable {
    var server: ScriptedServer
    var http: OutgoingHTTP
    var clock: ManualClock

    /// Makes the fixture, runs the test and cleans up, also after an error.
    static func play(
        _ steps: [ScriptedServer.Step],
        tls: TestAuthority.Certificate? = nil,
        network: NetworkSettingsSource? = nil,
        limits: OutgoingHTTP.Limits? = nil,
        ownHelper: Bool = false,
        requestTakes: Duration = .zero,
        onRequest: @escaping @Sendable (ScriptedServer.Request) -> Void = { _ in },
        _ test: (Stage) async throws -> Void
    ) async throws {
        let clock = ManualClock(ManualClock.start)
        let server = try await ScriptedServer.start(steps, tls: tls) { request in
            clock.advance(by: requestTakes)
            onRequest(request)
        }
        let isShared = network == nil && limits == nil && !ownHelper
        let http =
            isShared ? shared[server.port % shared.count] : way(network ?? NetworkSettingsSource(), limits ?? .patient)
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

    /// Clients that all tests without special settings share: hundreds of network helpers would slow each other down.
    private static let shared = (0..<8).map { _ in way(NetworkSettingsSource(), .patient) }

    private static func way(_ network: NetworkSettingsSource, _ limits: OutgoingHTTP.Limits) -> OutgoingHTTP {
        OutgoingHTTP(
            eventLoop: ScriptedServer.group.next(),
            helper: .built,
            network: network,
            userAgent: "junctiond/0.0-test",
            limits: limits
        )
    }

    /// A silent server needs a client with a short timeout. On a busy machine the request may not arrive in time; the
    /// test is repeated with more time then.
    static func play(_ trouble: ServerFailure, _ test: (Stage) async throws -> Void) async throws {
        guard trouble.isSilent else { return try await play([trouble.step], test) }
        for seconds in [1, 4, 16] {
            let limits = OutgoingHTTP.Limits(
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

    /// The client gave up before the server had received the request.
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

extension OutgoingHTTP.Limits {
    /// Long enough that a busy machine never looks like a silent server.
    static let patient = OutgoingHTTP.Limits(
        resolve: .seconds(600),
        connect: .seconds(600),
        request: .seconds(600),
        idle: .seconds(3_600)
    )
}

extension IdentityProvider {
    /// Probes for a caller without a limit on calls.
    func probe(_ identity: Identity?) async -> [ProbeFinding] { await probe(identity) { nil } }
}

extension SharedSecret {
    var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension HelperEndpoint {
    /// The network helper that was built together with the tests.
    static let built = HelperEndpoint.program(path: Program.path(of: "junctiond-courier"))
}
