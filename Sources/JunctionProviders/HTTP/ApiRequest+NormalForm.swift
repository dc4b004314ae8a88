import JunctionSession
import JunctionText

extension ApiRequest {
    static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    static let longestQuery = 8_192

    /// Returns the request in normal form: method in capitals, plain path, header names in lower case, sizes within the
    /// limits.
    ///
    /// - Parameters:
    ///   - allowance: the text that a path segment may hold besides plain characters, such as the user's id.
    ///   - own: returns the segments to send if they lead to the signed-in user's own resources, else `nil`.
    ///   - example: an example of such a path, for the error message.
    func normalForm(
        like example: String,
        allowing allowance: PlainPath.Allowance = .nothing,
        own: (_ segments: [String], _ method: String) -> [String]?
    ) throws(SessionError) -> ApiRequest {
        let method = method.uppercased()
        guard Self.methods.contains(method) else {
            throw SessionError(
                .invalidParameters,
                "The method must be one of \(Self.methods.sorted().joined(separator: ", "))"
            )
        }
        let plain = try PlainPath(path, allowing: allowance).segments
        guard let segments = own(plain, method) else {
            let others = Self.methods.filter { own(plain, $0) != nil }.sorted().joined(separator: ", ")
            throw SessionError(
                .permissionDenied,
                others.isEmpty
                    ? "The path is not one of the signed-in user's own resources: expected \(example) and the like"
                    : "The method \(method) is not allowed on this path, only \(others)"
            )
        }
        var admitted = self
        admitted.method = method
        admitted.path = "/" + segments.map(PercentEncoding.encode).joined(separator: "/")
        let offered = leavesOutOtherHeaders ? CallerHeaders.among(headers) : headers
        admitted.headers = try CallerHeaders.validate(offered)
        guard query.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.longestQuery else {
            throw SessionError(.invalidParameters, "The query is longer than \(Self.longestQuery) bytes")
        }
        if method == "HEAD" {
            // An HTTP client may send another method when it has a body to send.
            guard upload == nil, body?.isEmpty ?? true else {
                throw SessionError(.invalidParameters, "A request with the method HEAD has no body")
            }
            admitted.body = nil
        }
        guard body?.count ?? 0 <= Self.longestBody else {
            throw SessionError(.invalidParameters, "The body is longer than \(Self.longestBody) bytes")
        }
        return admitted
    }
}
