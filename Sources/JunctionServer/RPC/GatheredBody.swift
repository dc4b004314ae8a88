import JunctionJSON
import JunctionProtocol
import JunctionSecret
import JunctionSession
import JunctionText
import NIOCore

/// The body of one API answer that is part of one line. It is gathered as `AnswerBudget` has space for it, and then
/// written as the caller reads.
///
/// A line must not begin before its body is complete: other answers would wait behind it, and only the complete body
/// shows whether it is text. So the body is kept, within `AnswerBudget`, without a second copy. The JSON text of the
/// whole body could be six times as large. Lives on the event loop.
final class GatheredBody {
    /// An answer of at most this many bytes never waits for space. It stays in the stream until it is complete; the
    /// network helper sends more than this without being asked (`Flow.window`).
    static let longestBodyWithoutReservation = 1 << 16
    /// The bytes that are written at a time.
    private static let piece = 1 << 14

    enum Outcome {
        case gathered
        case failed(WireError)
        /// The body is no longer needed.
        case ended
    }

    private enum Stage {
        case gathering
        case gathered
        case over
    }

    private let source: BodyStream
    /// The length that the provider announced.
    private let announced: Int?
    private let user: UInt32
    private let reservations: AnswerReservations
    private let eventLoop: any EventLoop
    /// How long a body longer than `longestBodyWithoutReservation` may wait for space. If `nil`, such a body fails
    /// unless it fits at once.
    private let longestWait: Duration?
    private var stage = Stage.gathering
    private var bytes = WipedQueue()
    private var check = Utf8Check()
    /// Bytes that Base64 encodes together with the next ones: two at most.
    private var rest: [UInt8] = []
    /// The bytes that the user's account has been charged with.
    private var counted = 0
    private var hasRoom = false
    private var ticket: Int?
    private var then: ((Outcome) -> Void)?
    /// Called once, when no byte of the body is kept any more.
    var whenOver: (() -> Void)?

    /// - Parameters:
    ///   - answer: the answer whose body is gathered.
    ///   - user: the user who is charged with it.
    ///   - longestWait: how long a body longer than `longestBodyWithoutReservation` may wait for space. The bodies of a
    ///     batch must not wait (`nil`): other bodies of the same batch may hold the space, and they are written only
    ///     when the batch is complete.
    init(
        of answer: JunctionSession.ApiAnswer,
        for user: UInt32,
        in reservations: AnswerReservations,
        waitingFor longestWait: Duration?,
        on eventLoop: any EventLoop
    ) {
        (self.user, self.reservations, self.longestWait, self.eventLoop) = (user, reservations, longestWait, eventLoop)
        announced = answer.headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
        if let stream = answer.stream {
            source = stream
        } else {
            source = BodyStream()
            answer.body.withUnsafeBytes { source.put($0) }
            source.finish(.complete)
        }
    }

    var isText: Bool { check.isText }
    var count: Int { bytes.count }

    // MARK: Gathering

    /// Gathers the body. `then` is called once.
    func gather(then: @escaping (Outcome) -> Void) {
        self.then = then
        let body = NIOLoopBound(self, eventLoop: eventLoop)
        source.whenMore { body.value.resume() }
        resume()
    }

    private func resume() {
        guard stage == .gathering else { return }
        if let breach = source.breach { return fail(WireError(SessionError(ofCall: breach))) }
        if !hasRoom {
            guard source.isOver else { return askForRoom() }
            withdraw()
            charge(source.count)
        }
        take()
        if source.end == .complete { return complete() }
        if bytes.count == counted, source.count > 0 { fail(.longerThanAnnounced) }
    }

    private func askForRoom() {
        guard ticket == nil, source.count > Self.longestBodyWithoutReservation else { return }
        // If the length is not known, reserves as much as one answer may have.
        let most = JunctionSession.ApiRequest.longestBody
        let wanted = min(max(announced ?? most, source.count), most)
        if let longestWait {
            ticket = reservations.reserve(wanted, for: user, within: longestWait) { [self] hasRoom in
                ticket = nil
                guard hasRoom else { return fail(.noRoomForAnswer) }
                (self.hasRoom, counted) = (true, wanted)
                resume()
            }
        } else if reservations.keepIfRoom(wanted, for: user) {
            (hasRoom, counted) = (true, wanted)
            resume()
        } else {
            fail(.answerTooLargeForBatch)
        }
    }

    private func charge(_ count: Int) {
        reservations.keep(count, for: user)
        (hasRoom, counted) = (true, count)
    }

    private func take() {
        while bytes.count < counted {
            let taken: Void? = source.take(atMost: counted - bytes.count) { piece in
                check.take(piece)
                bytes.append(piece)
            }
            if taken == nil { return }
        }
    }

    private func complete() {
        stage = .gathered
        discharge(counted - bytes.count)
        tell(.gathered)
    }

    private func fail(_ error: WireError) {
        let then = then
        self.then = nil
        end()
        then?(.failed(error))
    }

    private func tell(_ outcome: Outcome) {
        let then = then
        self.then = nil
        then?(outcome)
    }

    private func withdraw() {
        if let ticket { reservations.withdraw(ticket) }
        ticket = nil
    }

    private func discharge(_ count: Int) {
        counted -= count
        reservations.release(count, of: user)
    }

    // MARK: Writing

    /// Writes the next bytes of the body as the content of a JSON string.
    func writeNext(to buffer: inout [UInt8]) {
        let before = bytes.count
        if isText {
            bytes.take(atMost: Self.piece) { buffer.appendEscaped($0) }
        } else {
            bytes.take(atMost: Self.piece) { rest += $0 }
            let whole = bytes.count > 0 ? rest.count - rest.count % 3 : rest.count
            rest.withUnsafeBytes { buffer.appendBase64(UnsafeRawBufferPointer(rebasing: $0[..<whole])) }
            rest.removeFirst(whole)
        }
        discharge(before - bytes.count)
    }

    /// Releases everything: the body was written, or it is no longer needed.
    func end() {
        guard stage != .over else { return }
        stage = .over
        withdraw()
        source.abandon()
        bytes = WipedQueue()
        discharge(counted)
        tell(.ended)
        let whenOver = whenOver
        self.whenOver = nil
        whenOver?()
    }
}

extension [UInt8] {
    fileprivate mutating func appendEscaped(_ bytes: UnsafeRawBufferPointer) {
        var writer = JSONWriter(capacity: bytes.count + bytes.count / 8)
        writer.partOfString(bytes)
        writer.withUnsafeBytes { append($0) }
    }

    fileprivate mutating func appendBase64(_ bytes: UnsafeRawBufferPointer) {
        let start = count
        append(contentsOf: repeatElement(0, count: Base64.characters(for: bytes.count)))
        withUnsafeMutableBytes { _ = Base64.encode(bytes, into: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}

extension WireError {
    fileprivate static let longerThanAnnounced = WireError(
        .providerUnavailable,
        "The provider's answer is longer than its Content-Length says",
        remedy: checkEffect
    )
    /// This error has no `retryAfter`. A client that waits and calls again would have the call carried out twice.
    fileprivate static let noRoomForAnswer = WireError(
        .busy,
        "The provider has answered, but there was no room for so long an answer in time, beside the other answers that are kept",
        remedy: checkEffect
    )
    fileprivate static let answerTooLargeForBatch = WireError(
        .busy,
        "The provider has answered, but there is no room for so long an answer in a batch now: make such a call by itself",
        remedy: checkEffect
    )
    static let checkEffect = "the provider has carried out the call: check its effect before you repeat it"
}
