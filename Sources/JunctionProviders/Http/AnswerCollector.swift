import AsyncHTTPClient
import JunctionSecret
import NIOCore
import NIOHTTP1
import Synchronization

/// Gathers one answer, and remembers whether the request had left when something went wrong.
///
/// AsyncHTTPClient calls it on the event loop only; the lock is for those who ask afterwards.
final class AnswerCollector: HTTPClientResponseDelegate {
    typealias Response = HttpAnswer

    /// An answer that is longer than the caller wants to hold.
    struct TooLong: Error {
        var status: Int
    }

    fileprivate struct Progress {
        var requestLeft = false
        var head: HTTPResponseHead?
        var parts: [SharedSecret] = []
        var count = 0
    }

    private let place: String
    private let longestAnswer: Int
    private let progress = Mutex(Progress())

    init(place: String, longestAnswer: Int) {
        self.place = place
        self.longestAnswer = longestAnswer
    }

    /// Whether any of the request may have reached the server.
    var requestLeft: Bool { progress.withLock { $0.requestLeft } }

    func didSendRequestHead(task: HTTPClient.Task<HttpAnswer>, _ head: HTTPRequestHead) {
        progress.withLock { $0.requestLeft = true }
    }

    func didReceiveHead(task: HTTPClient.Task<HttpAnswer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        progress.withLock { $0.head = head }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<HttpAnswer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let tooLong: TooLong? = progress.withLock { progress in
            progress.count += part.readableBytes
            guard progress.count <= longestAnswer else { return TooLong(status: progress.status) }
            progress.parts.append(part.withUnsafeReadableBytes { SharedSecret(copying: $0) })
            return nil
        }
        part.wipe()
        if let tooLong { return task.eventLoop.makeFailedFuture(tooLong) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<HttpAnswer>) throws -> HttpAnswer {
        progress.withLock { progress in
            HttpAnswer(
                status: progress.status,
                headers: progress.head?.headers.map { (name: $0.name, value: $0.value) } ?? [],
                body: progress.takeBody(),
                place: place
            )
        }
    }
}

extension AnswerCollector.Progress {
    var status: Int { Int(head?.status.code ?? 0) }

    mutating func takeBody() -> SharedSecret {
        if parts.count == 1 { return parts[0] }
        defer { parts = [] }
        return SharedSecret(
            Secret(capacity: count) { room in
                var end = 0
                for part in parts {
                    part.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: room[end...]).copyMemory(from: $0) }
                    end += part.count
                }
                return end
            }
        )
    }
}

extension ByteBuffer {
    /// Overwrites the readable bytes where they lie, whoever else refers to the same memory.
    ///
    /// Only for bytes that nobody will read again: what was sent and answered, or received and copied. Going through
    /// the mutating interface instead would copy them first and wipe the copy.
    func wipe() {
        withUnsafeReadableBytes { bytes in
            JunctionSecret.wipe(UnsafeMutableRawBufferPointer(mutating: bytes))
        }
    }
}
