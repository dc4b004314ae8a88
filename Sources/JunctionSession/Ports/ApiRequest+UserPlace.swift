import JunctionText

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
