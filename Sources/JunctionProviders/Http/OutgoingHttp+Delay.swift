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
}
