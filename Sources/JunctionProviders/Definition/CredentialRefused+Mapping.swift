import JunctionSession

/// Parses a credential, and throws the reason of a refusal as an error of another type.
func mappingRefusal<Value, Failure: Error>(
    of parse: @autoclosure () throws(CredentialRefused) -> Value,
    to failure: (_ reason: String) -> Failure
) throws(Failure) -> Value {
    do throws(CredentialRefused) {
        return try parse()
    } catch {
        throw failure(error.reason)
    }
}
