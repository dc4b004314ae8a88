import JunctionSession

/// Evaluates a step that fails only because the provider is unavailable, and throws that as an error of another type.
func mappingUnavailability<Value, Failure: Error>(
    of step: @autoclosure () async throws(Unavailability) -> Value,
    to failure: (Unavailability) -> Failure
) async throws(Failure) -> Value {
    do throws(Unavailability) {
        return try await step()
    } catch {
        throw failure(error)
    }
}
