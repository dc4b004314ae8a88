import Foundation
import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOCore
import NIOPosix

@testable import JunctionProviders

/// A fake network helper over a real socket. The test decides what it sends and when.
final class FakeNetworkHelper: Sendable {
    private let folder = TemporaryFolder()
    private let listener: TestListener

    init() throws {
        listener = try TestListener(.path(folder.path + "/courier"))
    }

    var place: HelperEndpoint { .socket(path: folder.path + "/courier") }

    /// Makes a client that uses this helper, on an event loop of the test.
    func http(_ limits: OutgoingHTTP.Limits = .patient) -> OutgoingHTTP {
        OutgoingHTTP(eventLoop: loop, helper: place, userAgent: "test", limits: limits)
    }

    /// The daemon's event loop. While a task of the test runs on it, the daemon reads nothing.
    let loop: any EventLoop = ScriptedServer.group.next()

    /// Waits for the next connection of the daemon.
    func met() async throws -> HelperConnection {
        let listener = listener
        return try await onThread {
            // The timeout must be longer than any test.
            guard let socket = listener.accept(patience: 3_600) else { throw HelperConnection.HungUp() }
            return HelperConnection(socket)
        }
    }

    /// Waits for the daemon's next connection, and exchanges greetings.
    func greeted() async throws -> HelperConnection {
        let line = try await met()
        line.say(.hello(version: DaemonMessage.version))
        return line
    }

    /// Waits for the daemon's next connection, exchanges greetings, and waits for its next transfer.
    func asked() async throws -> (HelperConnection, UInt32) {
        let line = try await greeted()
        return (line, try await line.opened())
    }
}

/// One connection of the daemon, from the helper's side.
final class HelperConnection: @unchecked Sendable {
    // Never used concurrently: by the test, or by a thread for which the test waits.
    private var socket: TestSocket?
    private var reader = FrameReader<DaemonMessage>()
    private var heard: [(UInt32, DaemonMessage)] = []

    struct HungUp: Error {}

    init(_ socket: TestSocket) {
        self.socket = socket
    }

    func closeConnection() { socket = nil }

    /// - Returns: whether the connection is still open.
    @discardableResult
    func say(_ messages: HelperMessage..., about number: UInt32 = 0) -> Bool {
        messages.allSatisfy { message in
            Frame.encode(message, of: number)?.withUnsafeBytes { write([UInt8]($0)) } == true
        }
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        (try? socket?.send(bytes)) != nil
    }

    /// Returns the daemon's next message, or `nil` if the daemon has closed the connection.
    func next() async throws -> (number: UInt32, message: DaemonMessage)? {
        try await onThread { [self] in
            while heard.isEmpty { guard try hear() else { return nil } }
            return heard.removeFirst()
        }
    }

    /// - Returns: whether the connection is still open.
    private func hear() throws -> Bool {
        guard let bytes = try socket?.lines.chunk(), !bytes.isEmpty else { return false }
        try bytes.withUnsafeBytes { bytes in
            try reader.take(bytes) { (number, message) throws(FormatFault) in
                heard.append((number, try message.get()))
            }
        }
        return true
    }

    /// Waits for the next transfer and returns its number.
    func opened() async throws -> UInt32 {
        while let (number, message) = try await next() {
            if case .open = message { return number }
        }
        throw HungUp()
    }

    /// Waits for the next transfer and returns its request.
    func request() async throws -> TransferRequest {
        while let (_, message) = try await next() {
            if case .open(let request) = message { return request }
        }
        throw HungUp()
    }

    /// Waits until the daemon cancels a transfer.
    func cancelled(_ number: UInt32) async throws {
        while let next = try await next() {
            if case .cancel = next.message, next.number == number { return }
        }
        throw HungUp()
    }

    /// Waits until the daemon closes the connection, and ignores its messages.
    func ended() async throws {
        try await onThread { [self] in
            repeat { heard.removeAll(keepingCapacity: true) } while try hear()
        }
    }
}

extension OutgoingHTTP {
    /// Returns the failure of a request, or `nil`.
    func failure(of call: HTTPCall) async -> Unavailability? {
        await thrown { () throws(Unavailability) in try await answer(to: call) }
    }

    /// Sends a request of an app and collects its answer.
    func apiAnswer(to call: HTTPCall) async throws -> (status: Int, body: [UInt8]) {
        let (head, body) = try await streamedAnswer(to: call, isStreamed: false)
        let answer = ApiAnswer(status: head.status, headers: [], body: [], stream: body)
        return (head.status, try await answer.taken(on: eventLoop))
    }

    /// Returns the failure of a request of an app before the head of its answer, or `nil`.
    func apiFailure(of call: HTTPCall) async -> Unavailability? {
        await thrown { () throws(Unavailability) in
            try await streamedAnswer(to: call, isStreamed: false)
        }
    }
}

extension Unavailability {
    /// Returns whether the texts are those of this failure.
    func says(_ failure: LocalFailure) -> Bool { detail == failure.text(of: host ?? "") && remedy == failure.remedy }
}

/// Ignores the answer.
final class NoReceiver: AnswerReceiver {
    func head(_ head: AnswerHead) {}
    func part(_ part: SharedSecret) {}
    func ended(_ outcome: Result<Void, Unavailability>, sinceLeft: Duration?) {}
}
