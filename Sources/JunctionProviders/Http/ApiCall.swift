import JunctionSession

/// One request that a local app makes of its vendor's API. A long body may take as long as its size takes on a slow line, so long as
/// something moves.
///
/// The network helper for API calls carries it (`NetworkHelper.api`), never the one of the session.
struct ApiCall: Sendable {
    /// The request as it goes out.
    let http: HttpCall
    /// The answer is handed on as it comes: it may be as long as it likes and take as long as something moves.
    let isStreamed: Bool

    init(_ http: HttpCall, isStreamed: Bool = false) {
        var http = http
        http.longestAnswer = isStreamed ? .max : ApiRequest.longestBody
        (self.http, self.isStreamed) = (http, isStreamed)
    }
}
