import JunctionText

/// A request to the provider's API, without the credential.
package struct ApiRequest: Sendable {
    package var method: String
    package var path: String
    package var query: [(name: String, value: String)]
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]?
    package var bodyTransfer = BodyTransfer.whole
    /// The largest body, in bytes, of a request that is not streamed and of an answer that is gathered.
    package static let longestBody = 8 << 20
    /// Whether headers that a caller may not set are left out instead of refused. A library may have added them by
    /// itself.
    package var leavesOutOtherHeaders = false

    /// How the bodies of a request and its answer are transferred.
    package enum BodyTransfer: Sendable {
        /// Complete: the request's body is in `body`, and the answer is gathered, with a bounded length and a bounded
        /// time.
        case whole
        /// Streamed, of any length: the answer's body, and the request's body if a stream is given.
        case streamed(BodyStream?)
    }

    /// The streamed request body, which can be sent only once.
    package var upload: BodyStream? {
        if case .streamed(let upload) = bodyTransfer { upload } else { nil }
    }

    package init(
        method: String,
        path: String,
        query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

extension ApiRequest {
    /// The placeholders for the signed-in user's id. Each is a whole segment of a path. There are two spellings,
    /// because `curl` and shells interpret braces.
    package static let userPlaces = [":userId", "{userId}"]

    /// Returns the request with the user's id in place of each placeholder in its path.
    ///
    /// The id is percent-encoded, so it stays one segment. The provider checks the resulting path like any other.
    func naming(_ userId: String) -> ApiRequest {
        var named = self
        named.path = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { Self.isUserPlace($0) ? PercentEncoding.encode(userId) : String($0) }
            .joined(separator: "/")
        return named
    }

    private static func isUserPlace(_ segment: Substring) -> Bool {
        // A client may percent-encode any byte, and an encoded byte takes three bytes.
        guard segment.utf8.count <= 3 * "{userId}".utf8.count, let plain = PercentEncoding.decode(segment.utf8) else {
            return false
        }
        return userPlaces.contains { $0.utf8.elementsEqual(plain) }
    }
}

/// The provider's answer to an API request, with any status.
package struct ApiAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The streamed body. `body` is then empty. The owner of the answer must read the stream to its end or abandon it.
    package var stream: BodyStream?

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8], stream: BodyStream? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.stream = stream
    }
}
