import Foundation
import Glibc
import JunctionCourier
import JunctionSecret
import JunctionSession
import NIOCore
import NIOPosix

@testable import JunctionProviders

/// A courier played by the test, over a real socket: says what the test wants, when it wants.
final class PlayedCourier: Sendable {
    private let listener: Int32
    private let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(13)).sock").path
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener, 16) == 0 else { throw IOError(errnoCode: errno, reason: "listen at \(path)") }
    }

    deinit {
        close(listener)
        unlink(path)
    }

    var place: CourierPlace { .socket(path: path) }

    /// The way out that leads to this courier, on an event loop of the test's.
    func http(_ limits: OutgoingHttp.Limits = .patient) -> OutgoingHttp {
        OutgoingHttp(eventLoop: loop, courier: place, userAgent: "test", limits: limits)
    }

    /// Where the keeper lives: what runs here runs while it reads nothing.
    let loop: any EventLoop = ScriptedServer.group.next()

    /// Waits for the next connection of the keeper.
    func met() async throws -> KeepersLine {
        let listener = listener
        return try await onThread {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { throw IOError(errnoCode: errno, reason: "accept") }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            return KeepersLine(socket)
        }
    }

    /// Waits for the keeper's next connection, and greets it.
    func greeted() async throws -> KeepersLine {
        let line = try await met()
        line.say(.hello(version: KeeperMessage.version))
        return line
    }

    /// Waits for the keeper's next connection and its next transfer, and greets it.
    func asked() async throws -> (KeepersLine, UInt32) {
        let line = try await greeted()
        return (line, try await line.opened())
    }
}

/// One connection of the keeper, as its courier sees it.
final class KeepersLine: @unchecked Sendable {
    // Used by one after the other: the test, or the thread that it waits for.
    private let socket: Int32
    private var isOpen = true
    private var reader = FrameReader<KeeperMessage>()
    private var heard: [(UInt32, KeeperMessage)] = []

    init(_ socket: Int32) {
        self.socket = socket
    }

    deinit { hangUp() }

    func hangUp() {
        if isOpen { close(socket) }
        isOpen = false
    }

    /// - Returns: whether the keeper has not hung up.
    @discardableResult
    func say(_ messages: CourierMessage..., about number: UInt32 = 0) -> Bool {
        messages.allSatisfy { message in
            Frame.encode(message, of: number)?.withUnsafeBytes { write([UInt8]($0)) } == true
        }
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// The keeper's next message; `nil`: it has hung up.
    func next() async throws -> (number: UInt32, message: KeeperMessage)? {
        try await onThread { [self] in
            while heard.isEmpty { guard try hear() else { return nil } }
            return heard.removeFirst()
        }
    }

    /// - Returns: whether the keeper is still there.
    private func hear() throws -> Bool {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &room, room.count, 0)
        guard count > 0 else { return false }
        try room.withUnsafeBytes { bytes in
            try reader.take(UnsafeRawBufferPointer(rebasing: bytes[0..<count])) {
                (number, message) throws(FormatFault) in
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
        throw IOError(errnoCode: ECONNRESET, reason: "the keeper hung up")
    }

    /// Waits for the next transfer, and gives what is to be made.
    func request() async throws -> TransferRequest {
        while let (_, message) = try await next() {
            if case .open(let request) = message { return request }
        }
        throw IOError(errnoCode: ECONNRESET, reason: "the keeper hung up")
    }

    /// Waits until the keeper takes a transfer back.
    func cancelled(_ number: UInt32) async throws {
        while let next = try await next() {
            if case .cancel = next.message, next.number == number { return }
        }
        throw IOError(errnoCode: ECONNRESET, reason: "the keeper hung up")
    }

    /// Waits until the keeper hangs up, however much it says before.
    func ended() async throws {
        try await onThread { [self] in
            repeat { heard.removeAll(keepingCapacity: true) } while try hear()
        }
    }
}

/// Waits on a thread of its own, where nobody else is kept waiting.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
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
