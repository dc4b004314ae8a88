import JunctionSession

extension ApiRequest {
    static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    static let longestQuery = 8_192

    /// The request in normal form: method in capitals, plain path, headers in lower case, nothing too long.
    ///
    /// - Parameters:
    ///   - headers: those that a caller may set.
    ///   - allowance: what may stand in a path besides plain characters, such as the user's id.
    ///   - own: the segments as they are sent, when they lead to the signed-in user's own resources.
    ///   - example: what such a path looks like, for the refusal.
    func normalForm(
        headers: Set<String>,
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
        guard let segments = own(try PlainPath(path, allowing: allowance).segments, method) else {
            throw SessionError(
                .permissionDenied,
                "The path is not one of the signed-in user's own resources: expected \(example) and the like"
            )
        }
        var admitted = self
        admitted.method = method
        admitted.path = "/" + segments.map(PercentEncoding.encode).joined(separator: "/")
        let offered = leavesOutOtherHeaders ? CallerHeaders.among(self.headers, allowed: headers) : self.headers
        admitted.headers = try CallerHeaders.admit(offered, allowed: headers)
        guard query.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.longestQuery else {
            throw SessionError(.invalidParameters, "The query is longer than \(Self.longestQuery) bytes")
        }
        guard body?.count ?? 0 <= Self.longestBody else {
            throw SessionError(.invalidParameters, "The body is longer than \(Self.longestBody) bytes")
        }
        return admitted
    }
}
