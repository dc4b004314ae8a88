import JunctionSession

extension OutgoingHttp {
    /// The answer to a request for which every failure is only a delay.
    func answerOrDelay(to call: HttpCall) async throws(Unavailability) -> HttpAnswer {
        do {
            return try await answer(to: call)
        } catch {
            throw Unavailability(error)
        }
    }

    /// The same for a request of an app's.
    func answerOrDelay(to call: ApiCall) async throws(Unavailability) -> HttpAnswer {
        do {
            return try await answer(to: call)
        } catch {
            throw Unavailability(error)
        }
    }

    /// The same for an answer whose body comes by and by.
    func streamedAnswerOrDelay(to call: ApiCall) async throws(Unavailability) -> (head: HttpAnswer, body: BodyStream) {
        do {
            return try await streamedAnswer(to: call)
        } catch {
            throw Unavailability(error)
        }
    }
}
