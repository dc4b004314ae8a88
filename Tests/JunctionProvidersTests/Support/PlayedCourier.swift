import Foundation
import JunctionCourier
import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOCore
import NIOPosix

@testable import JunctionProviders

/// A courier played by the test, over a real socket: says what the test wants, when it wants.
final class PlayedCourier: Sendable {
    private let folder = TemporaryFolder()
    private let listener: TestListener

    init() throws {
        listener = try TestListener(.path(folder.path + "/courier"))
    }

    var place: CourierPlace { .socket(path: folder.path + "/courier") }

    /// The way out that leads to this courier, on an event loop of the test's.
    func http(_ limits: OutgoingHttp.Limits = .patient) -> OutgoingHttp {
        OutgoingHttp(eventLoop: loop, courier: place, userAgent: "test", limits: limits)
    }

    /// Where the daemon lives: what runs here runs while it reads nothing.
    let loop: any EventLoop = ScriptedServer.group.next()

    /// Waits for the next connection of the daemon.
    func met() async throws -> DaemonLine {
        let listener = listener
        return try await onThread {
            // A daemon may say nothing for as long as a test wants.
            guard let socket = listener.accept(patience: 3_600) else { throw DaemonLine.HungUp() }
            return DaemonLine(socket)
        }
    }

    /// Waits for the daemon's next connection, and greets it.
    func greeted() async throws -> DaemonLine {
        let line = try await met()
        line.say(.hello(version: DaemonMessage.version))
        return line
    }

    /// Waits for the daemon's next connection and its next transfer, and greets it.
    func asked() async throws -> (DaemonLine, UInt32) {
        let line = try await greeted()
        return (line, try await line.opened())
    }
}

/// One connection of the daemon, as its courier sees it.
final class DaemonLine: @unchecked Sendable {
    // Used by one after the other: the test, or the thread that it waits for.
    private var socket: TestSocket?
    private var reader = FrameReader<DaemonMessage>()
    private var heard: [(UInt32, DaemonMessage)] = []

    struct HungUp: Error {}

    init(_ socket: TestSocket) {
        self.socket = socket
    }

    func hangUp() { socket = nil }

    /// - Returns: whether the daemon has not hung up.
    @discardableResult
    func say(_ messages: CourierMessage..., about number: UInt32 = 0) -> Bool {
        messages.allSatisfy { message in
            Frame.encode(message, of: number)?.withUnsafeBytes { write([UInt8]($0)) } == true
        }
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        (try? socket?.send(bytes)) != nil
    }

    /// The daemon's next message; `nil`: it has hung up.
    func next() async throws -> (number: UInt32, message: DaemonMessage)? {
        try await onThread { [self] in
            while heard.isEmpty { guard try hear() else { return nil } }
            return heard.removeFirst()
        }
    }

    /// - Returns: whether the daemon is still there.
    private func hear() throws -> Bool {
        guard let bytes = try socket?.lines.chunk(), !bytes.isEmpty else { return false }
        try bytes.withUnsafeBytes { bytes in
            try reader.take(bytes) { (number, message) throws(FormatFault) in
                heard.append((number, try message.get()))
            }
        }
        return true
    }

    /// Waits for the next transfer.
    func opened() async throws -> UInt32 {
        while let (number, message) = try await next() {
            if case .open = message { return number }
        }
        throw HungUp()
    }

    /// Waits for the next transfer, and gives what is to be made.
    func request() async throws -> TransferRequest {
        while let (_, message) = try await next() {
            if case .open(let request) = message { return request }
        }
        throw HungUp()
    }

    /// Waits until the daemon takes a transfer back.
    func cancelled(_ number: UInt32) async throws {
        while let next = try await next() {
            if case .cancel = next.message, next.number == number { return }
        }
        throw HungUp()
    }

    /// Waits until the daemon hangs up, however much it says before.
    func ended() async throws {
        try await onThread { [self] in
            repeat { heard.removeAll(keepingCapacity: true) } while try hear()
        }
    }
}

extension OutgoingHttp {
    /// How a request fails; `nil`: not at all.
    func failure(of call: HttpCall) async -> Unavailability? {
        do throws(Unavailability) {
            _ = try await answer(to: call)
            return nil
        } catch {
            return error
        }
    }

    func failure(of call: ApiCall) async -> Unavailability? {
        do throws(Unavailability) {
            _ = try await answer(to: call)
            return nil
        } catch {
            return error
        }
    }
}

extension Unavailability {
    /// Whether it is this failure, in words.
    func says(_ failure: LocalFailure) -> Bool { detail == failure.text(of: host ?? "") && remedy == failure.remedy }
}

/// Wants no answer.
final class NoReceiver: AnswerReceiver {
    func head(_ head: AnswerHead) {}
    func part(_ part: SharedSecret) {}
    func ended(_ outcome: Result<Void, Unavailability>, sinceLeft: Duration?) {}
}
