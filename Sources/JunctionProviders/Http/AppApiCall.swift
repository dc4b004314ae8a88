import JunctionSession

/// A request that a local app makes of its provider's API. A long body may take as long as its size needs on a slow
/// line, while bytes move.
///
/// Only the network helper for API calls sends it (`NetworkHelper.api`), never the one of the session.
struct AppApiCall: Sendable {
    /// The HTTP request.
    let http: HttpCall
    /// Whether the answer is passed on as it arrives. Its length is not limited then, nor its duration while bytes
    /// move.
    let isStreamed: Bool

    init(_ http: HttpCall, isStreamed: Bool = false) {
        var http = http
        http.longestAnswer = isStreamed ? .max : ApiRequest.longestBody
        (self.http, self.isStreamed) = (http, isStreamed)
    }
}
