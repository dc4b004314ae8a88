import JunctionNetworkHelper
import JunctionSecret
import JunctionSession
import NIOCore

/// Passes one answer on as it arrives: the head at once, and as much of the body as its reader takes.
final class AnswerStreamer: AnswerReceiver {
    private let place: String
    private let eventLoop: any EventLoop
    /// Grants the helper this many more bytes.
    private let grant: (Int) -> Void
    private let cancel: () -> Void
    /// Called once, with the head or with a failure before it.
    private var completion: ((Result<(head: HTTPAnswer, body: BodyStream), Unavailability>) -> Void)?
    private let body = BodyStream()
    private var ungranted = 0

    init(
        place: String,
        eventLoop: any EventLoop,
        granting grant: @escaping (Int) -> Void,
        cancelling cancel: @escaping () -> Void,
        then completion: @escaping (Result<(head: HTTPAnswer, body: BodyStream), Unavailability>) -> Void
    ) {
        (self.place, self.eventLoop) = (place, eventLoop)
        (self.grant, self.cancel, self.completion) = (grant, cancel, completion)
    }

    func head(_ head: AnswerHead) {
        let onLoop = onLoop
        body.whenTaken { count in
            onLoop { $0.taken(count) }
        } abandoned: {
            onLoop { $0.cancel() }
        }
        let nothing = SharedSecret(text: "")
        let answer = HTTPAnswer(status: Int(head.status), headers: head.headers, body: nothing, place: place)
        completion?(.success((answer, body)))
        completion = nil
    }

    func part(_ part: SharedSecret) {
        part.withUnsafeBytes { body.put($0) }
    }

    func ended(_ outcome: Result<Void, Unavailability>, sinceLeft: Duration?) {
        switch outcome {
        case .success: body.finish(.complete)
        case .failure(let failure):
            completion?(.failure(failure))
            completion = nil
            body.finish(.broken(failure))
        }
    }

    /// Runs work on the event loop. The reader of the body may be on any thread.
    private var onLoop: @Sendable (@escaping @Sendable (AnswerStreamer) -> Void) -> Void {
        let streamer = NIOLoopBound(self, eventLoop: eventLoop)
        return { [eventLoop] work in
            if eventLoop.inEventLoop { return work(streamer.value) }
            eventLoop.execute { work(streamer.value) }
        }
    }

    private func taken(_ count: Int) {
        ungranted += count
        // An app may take single bytes. Grant only when a whole part has been taken.
        guard ungranted >= Flow.longestPart else { return }
        let count = ungranted
        ungranted = 0
        grant(count)
    }
}
