import JunctionCourier
import JunctionSecret

/// Gathers one answer, for whoever wants all of it at once.
final class AnswerCollector: AnswerReceiver {
    private let place: String
    /// Makes room for as much again.
    private let grant: (Int) -> Void
    private let completion: (Result<HttpAnswer, HttpFailure>) -> Void
    private var head = AnswerHead(status: 0, headers: [])
    private var parts: [SharedSecret] = []
    private var count = 0

    init(
        place: String,
        granting grant: @escaping (Int) -> Void,
        then completion: @escaping (Result<HttpAnswer, HttpFailure>) -> Void
    ) {
        (self.place, self.grant, self.completion) = (place, grant, completion)
    }

    func head(_ head: AnswerHead) {
        self.head = head
    }

    func part(_ part: SharedSecret) {
        // What is too long has been refused by the courier, which knows the limit.
        parts.append(part)
        count += part.count
        grant(part.count)
    }

    func ended(_ outcome: Result<Void, HttpFailure>) {
        completion(
            outcome.map {
                HttpAnswer(status: Int(head.status), headers: head.headers, body: body(), place: place)
            }
        )
    }

    private func body() -> SharedSecret {
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
