import JunctionNetworkHelper
import JunctionSecret
import JunctionSession

/// Collects one answer and delivers it as a whole.
final class AnswerCollector: AnswerReceiver {
    private let place: String
    /// Grants the helper this many more bytes.
    private let grant: (Int) -> Void
    private let completion: (Result<HTTPAnswer, Unavailability>) -> Void
    private var head = AnswerHead(status: 0, headers: [])
    private var body = WipedQueue()
    private var ungranted = 0

    init(
        place: String,
        granting grant: @escaping (Int) -> Void,
        then completion: @escaping (Result<HTTPAnswer, Unavailability>) -> Void
    ) {
        (self.place, self.grant, self.completion) = (place, grant, completion)
    }

    func head(_ head: AnswerHead) {
        self.head = head
    }

    func part(_ part: SharedSecret) {
        part.withUnsafeBytes { body.append($0) }
        ungranted += part.count
        // A server may send single bytes. Grant only when a whole part has arrived.
        guard ungranted >= Flow.longestPart else { return }
        grant(ungranted)
        ungranted = 0
    }

    func ended(_ outcome: Result<Void, Unavailability>, sinceLeft: Duration?) {
        completion(
            outcome.map {
                HTTPAnswer(
                    status: Int(head.status),
                    headers: head.headers,
                    body: SharedSecret(body.takeAll()),
                    place: place,
                    sinceLeft: sinceLeft
                )
            }
        )
    }
}
