import JunctionSecret
import Testing

@testable import JunctionProviders

/// The vendor's own SDKs broke here twice, so these bodies are a contract.
struct JunctionVerdictTests {
    @Test(arguments: [
        (#"{"detail":{"error_type":"invalid_token"}}"#, JunctionVerdict.invalidToken),
        (#"{"detail":{"error_type":"reauthentication_required"}}"#, .reauthenticationRequired),
        (#"{"error":"invalid_request","detail":{"error_type":"invalid_token"}}"#, .invalidToken),
        (#"{"detail":{"error_type":"invalid_token","message":"User not found","extra":[1]}}"#, .invalidToken),
        ("\n {\"detail\" : { \"error_type\" : \"invalid\\u005ftoken\" } }\n", .invalidToken),
    ])
    func `a verdict is found in the one place where the server puts it`(body: String, verdict: JunctionVerdict) {
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
    func `nothing else is a verdict`(body: String) {
        #expect(read(400, body) == nil)
    }

    @Test(arguments: [200, 302, 408, 429, 500, 503])
    func `a status that judges nobody is no verdict, whatever the body says`(status: Int) {
        #expect(read(status, #"{"detail":{"error_type":"invalid_token"}}"#) == nil)
    }

    private func read(_ status: Int, _ body: String) -> JunctionVerdict? {
        JunctionVerdict(HttpAnswer(status: status, headers: [], body: SharedSecret(text: body), place: "example.com"))
    }
}
