import Foundation
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOCore
import Testing

@testable import JunctionProviders

struct OutgoingHTTPTests {
    private static let needsOpenSSL = ConditionTrait.enabled(
        if: TestAuthority.isAvailable,
        "openssl is not installed"
    )

    @Test func `an unknown name is reported as the cause`() async throws {
        try await Stage.play([]) { stage in
            // This needs no resolver: a label has at most 63 characters.
            let host = String(repeating: "a", count: 64) + ".invalid"
            let failure = await stage.http.failure(of: try call("https://\(host)"))

            #expect(failure?.ambiguous == false)
            #expect(failure?.message == "The name \(host) cannot be resolved: check the network and its DNS")
        }
    }

    @Test func `a server that does not use TLS never receives the request`() async throws {
        let limits = OutgoingHTTP.Limits(resolve: .seconds(60), connect: .seconds(1), request: .seconds(60))
        try await Stage.play([], limits: limits) { stage in
            let failure = await stage.http.failure(of: try call("https://\(stage.server.place)"))

            #expect(failure?.ambiguous == false)
            #expect(failure?.detail == "No connection to \(stage.server.place) within 1 s")
        }
    }

    @Test(needsOpenSSL)
    func `a certificate for another host is refused`() async throws {
        let authority = try TestAuthority()
        let tls = try authority.certificate(for: "DNS:elsewhere.example")
        try await Stage.play([], tls: tls, network: NetworkSettingsSource(caFile: authority.file)) { stage in
            let failure = await stage.http.failure(of: try call("https://localhost:\(stage.server.port)"))

            #expect(failure?.detail == "The certificate of localhost:\(stage.server.port) is for another host")
            #expect(failure?.ambiguous == false)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test(needsOpenSSL)
    func `the certificate is checked against a host name as against an address`() async throws {
        let authority = try TestAuthority()
        let tls = try authority.certificate(for: "DNS:localhost")
        try await Stage.play(
            [.answer(200, [], "fine")],
            tls: tls,
            network: NetworkSettingsSource(caFile: authority.file)
        ) {
            let answer = try await $0.http.answer(to: try call("https://localhost:\($0.server.port)"))

            #expect(answer.body.text == "fine")
        }
    }

    @Test func `an answer in many pieces is joined`() async throws {
        let body = String(repeating: "0123456789", count: 30_000)
        try await Stage.play([.answer(200, [("x-a", "1")], body)]) { stage in
            var call = try call(stage.server.url)
            call.longestAnswer = body.utf8.count
            let answer = try await stage.http.answer(to: call)

            #expect(answer.body.text == body)
            #expect(answer.header("x-a") == "1")
            #expect(answer.place == stage.server.place)
        }
    }

    @Test func `the path of the origin precedes the target`() async throws {
        try await Stage.play([.answer(200, [], "")]) { stage in
            _ = try await stage.http.answer(to: call(stage.server.url + "/auth/", target: "/v1/token?a=%2B%20b"))

            #expect(stage.server.requests.first?.line == "GET /auth/v1/token?a=%2B%20b HTTP/1.1")
        }
    }

    @Test func `cancelling the task cancels the request`() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let server = try await ScriptedServer.start([.stall("")]) { _ in arrived.yield() }
        let http = OutgoingHTTP(
            eventLoop: ScriptedServer.group.any(),
            helper: .built,
            userAgent: "test",
            limits: .patient
        )
        let call = try call(server.url)

        let task = Task { await http.failure(of: call) }
        for await _ in arrivals { break }
        task.cancel()
        let failure = await task.value

        #expect(failure?.says(.cancelled) == true)
        #expect(failure?.ambiguous == true)
        await http.shutdown()
        try await server.stop()
    }

    @Test func `after the shutdown no request is sent, and a second shutdown does nothing`() async throws {
        try await Stage.play([], ownHelper: true) { stage in
            await stage.http.shutdown()
            let failure = await stage.http.failure(of: try call(stage.server.url))

            #expect(failure?.says(.shutDown) == true)
            #expect(failure?.ambiguous == false)
            #expect(stage.server.requests.isEmpty)
        }
    }

    @Test func `a caller on an event loop stays on it after a request`() async throws {
        try await Stage.play([.answer(200, [], "")]) { stage in
            let eventLoop = ScriptedServer.group.any()
            let call = try call(stage.server.url)
            let stayed = try await Task(executorPreference: EventLoopExecutor(eventLoop)) {
                _ = try await stage.http.answer(to: call)
                return eventLoop.inEventLoop
            }.value

            #expect(stayed)
        }
    }

    @Test func `wiping a buffer also wipes bytes that another buffer refers to`() {
        let buffer = ByteBuffer(string: "refresh-secret")
        let other = buffer

        buffer.wipe()

        #expect(other.readableBytesView.allSatisfy { $0 == 0 })
    }

    @Test func `an error about a file without certificates names the file`() throws {
        let folder = TemporaryFolder()
        let file = folder.fresh("ca.pem")
        let fault = ProviderConfigurationFault(
            "tls.caFile: \(file) cannot be read as certificates: expected a PEM file"
        )
        #expect(throws: fault) { try NetworkSettingsSource(caFile: file) }

        try Data("nothing".utf8).write(to: URL(filePath: file))
        #expect(throws: fault) { try NetworkSettingsSource(caFile: file) }
    }

    private func call(_ url: String, target: String = "/") throws -> HTTPCall {
        HTTPCall(method: "GET", origin: try HTTPOrigin(url), target: target)
    }
}

/// An executor that runs tasks on an event loop, as in the daemon.
private final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
