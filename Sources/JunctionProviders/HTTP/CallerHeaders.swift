import JunctionSession
import JunctionText

/// The headers that a local app may set. All other headers belong to the daemon or to HTTP itself.
enum CallerHeaders {
    /// Headers that describe the content. None of them is a credential or is about the connection or the caller.
    private static let allowed: Set<String> = [
        "accept", "accept-language", "content-type", "content-encoding", "idempotency-key",
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]

    static let longestValue = 4_096

    /// Returns the headers that a caller may set, and drops the others.
    static func among(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        headers.filter { allowed.contains($0.name.lowercased()) }
    }

    /// Returns the headers with their names in lower case, or throws if one is not allowed.
    static func validate(
        _ headers: [(name: String, value: String)]
    ) throws(SessionError) -> [(name: String, value: String)] {
        var admitted: [(name: String, value: String)] = []
        for (name, value) in headers {
            let name = name.lowercased()
            guard allowed.contains(name) else {
                // An invalid name is not repeated in the message: the caller may have chosen it to mislead a reader of
                // the log.
                let header = name.utf8.allSatisfy(PercentEncoding.isUnreserved) ? "The header \(name)" : "A header"
                let choice = allowed.sorted().joined(separator: ", ")
                throw SessionError(.invalidParameters, "\(header) cannot be set by a caller; those that can: \(choice)")
            }
            guard !admitted.contains(where: { $0.name == name }) else {
                throw SessionError(.invalidParameters, "The header \(name) is given twice")
            }
            guard value.utf8.count <= longestValue, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw SessionError(
                    .invalidParameters,
                    "The header \(name) must be printable ASCII of at most \(longestValue) bytes"
                )
            }
            admitted.append((name, value))
        }
        return admitted
    }
}
