import JunctionSecret
import Testing

@testable import JunctionProviders

/// These bodies are a contract: the provider's own SDKs read them wrongly twice.
struct JunctionVerdictTests {
    @Test(arguments: [
        (#"{"detail":{"error_type":"invalid_token"}}"#, JunctionVerdict.invalidToken),
        (#"{"detail":{"error_type":"reauthentication_required"}}"#, .reauthenticationRequired),
        (#"{"error":"invalid_request","detail":{"error_type":"invalid_token"}}"#, .invalidToken),
        (#"{"detail":{"error_type":"invalid_token","message":"User not found","extra":[1]}}"#, .invalidToken),
        ("\n {\"detail\" : { \"error_type\" : \"invalid\\u005ftoken\" } }\n", .invalidToken),
    ])
    func `a verdict is found in the documented member`(body: String, verdict: JunctionVerdict) {
        for status in [400, 401, 403, 404, 422] { #expect(read(status, body) == verdict) }
    }

    @Test(arguments: [
        "", "{}", "null", "[]", "invalid_token", #""invalid_token""#, "<html>invalid_token</html>",
        #"{"details":{"errorType":"invalid_token"}}"#, #"{"detail":{"errorType":"invalid_token"}}"#,
        #"{"details":{"error_type":"invalid_token"}}"#, #"{"error_type":"invalid_token"}"#,
        #"{"detail":"invalid_token"}"#, #"{"detail":[{"error_type":"invalid_token"}]}"#, #"{"detail":null}"#,
        #"{"detail":{"error_type":null}}"#, #"{"detail":{"error_type":"INVALID_TOKEN"}}"#,
        #"{"detail":{"error_type":"invalid_token "}}"#, #"{"detail":{"error_type":["invalid_token"]}}"#,
        #"{"error":"invalid_token"}"#, #"{"detail":{"error_type":"INVALID_GRANT_TYPE"}}"#,
        #"{"detail":{"error_type":"invalid_token"}"#,
    ])
    func `any other body is not a verdict`(body: String) {
        #expect(read(400, body) == nil)
    }

    @Test(arguments: [200, 302, 408, 429, 500, 503])
    func `a status other than a client error, or one that asks to wait, is not a verdict`(status: Int) {
        #expect(read(status, #"{"detail":{"error_type":"invalid_token"}}"#) == nil)
    }

    private func read(_ status: Int, _ body: String) -> JunctionVerdict? {
        JunctionVerdict(HTTPAnswer(status: status, headers: [], body: SharedSecret(text: body), place: "example.com"))
    }
}
