import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct TokenAnswerTests {
    @Test(arguments: ["3600", #""3600""#, "3600.5", #""3600.0""#])
    func `the life is a number or a string and counts from the start of the request`(life: String) throws {
        let answer = try #require(
            read(#"{"access_token":"a.b.c","refresh_token":"r+1","expires_in":\#(life),"token_type":"bearer"}"#)
        )

        #expect(answer.token?.secret?.text == "a.b.c")
        #expect(answer.refreshToken?.text == "r+1")
        #expect(answer.token?.issuedAt == ManualClock.noon)
        #expect(answer.token?.expiresAt == ManualClock.noon + .seconds(3_600))
    }

    @Test(arguments: [1, 366 * 86_400])
    func `a life from one second to a leap year is accepted`(life: Int) throws {
        let answer = try #require(read(#"{"access_token":"a","expires_in":\#(life)}"#))

        let token = try #require(answer.token)
        #expect(token.expiresAt - token.issuedAt == .seconds(life))
    }

    @Test(arguments: [
        #"{"access_token":"a","expires_in":60}"#, #"{"access_token":"a","expires_in":60,"refresh_token":null}"#,
        #"{"access_token":"a","expires_in":60,"refresh_token":""}"#,
    ])
    func `an answer without a refresh token keeps the old one`(body: String) throws {
        #expect(try #require(read(body)).refreshToken == nil)
    }

    @Test(arguments: [
        "", "null", "[]", "<html></html>", #"{"access_token":"a"}"#, #"{"expires_in":60}"#,
        #"{"access_token":"","expires_in":60}"#, #"{"access_token":7,"expires_in":60}"#,
        #"{"access_token":"a b","expires_in":60}"#, #"{"access_token":"a\r\nx-evil: 1","expires_in":60}"#,
        #"{"access_token":"é","expires_in":60}"#, #"{"access_token":"a","expires_in":0}"#,
        #"{"access_token":"a","expires_in":-5}"#, #"{"access_token":"a","expires_in":31622401}"#,
        #"{"access_token":"a","expires_in":1e300}"#, #"{"access_token":"a","expires_in":0.5}"#,
        #"{"access_token":"a","expires_in":"soon"}"#, #"{"access_token":"a","expires_in":"60s"}"#,
        #"{"access_token":"a","expires_in":true}"#, #"{"access_token":"a","expires_in":99999999999999999999}"#,
        #"{"access_token":"a","expires_in":60,"refresh_token":7}"#, #"{"access_token":"a","expires_in":60"#,
    ])
    func `an invalid answer is unreadable`(body: String) {
        #expect(read(body) == nil)
    }

    @Test func `a token that does not fit into a header is unreadable`() {
        let token = String(repeating: "a", count: BearerToken.longest + 1)

        #expect(read(#"{"access_token":"\#(token)","expires_in":60}"#) == nil)
    }

    @Test(arguments: [
        #"{"refresh_token":"r+1"}"#, #"{"refresh_token":"r+1","access_token":"a"}"#,
        #"{"refresh_token":"r+1","access_token":"a","expires_in":0}"#,
        #"{"refresh_token":"r+1","access_token":"a b","expires_in":60}"#,
        #"{"refresh_token":"r+1","access_token":7,"expires_in":60}"#,
        // The rest is not valid JSON.
        #"{"refresh_token":"r+1","access_token":"a","expires_in":NaN}"#,
        #"{"access_token":"a","expires_in":60,"refresh_token" : "r+1","scope":"a"#,
        "{\"refresh_token\":\"r+1\"}\n<!-- debug -->",
        #"{"hint":"refresh_token","refresh_token":"r+1","#,
    ])
    func `a refresh token is read although the rest of the answer is invalid`(body: String) throws {
        let answer = try #require(read(body))

        #expect(answer.refreshToken?.text == "r+1")
        #expect(answer.token == nil)
    }

    @Test(arguments: [
        #"{"refresh_token":"r+1","x":NaN,"refresh_token":"r+2"}"#, #"{"refresh_token":"r\u002b1","x":NaN}"#,
        #"{"refresh_token":"r+1"#, #"{"refresh_token":"","x":NaN}"#, #"{"refresh_token":7,"x":NaN}"#,
        #"{"refresh_token":"r 1","x":NaN}"#, #"{"refresh_token"#,
        #"<html><script>var config = {"refresh_token":"r+1"}</script></html>"#, #"[{"refresh_token":"r+1"},NaN]"#,
    ])
    func `a refresh token that is not certain is not read from invalid JSON`(body: String) {
        #expect(read(body) == nil)
    }

    @Test func `a byte order mark before the answer is ignored`() throws {
        let answer = try #require(read("\u{FEFF}" + #"{"access_token":"a","refresh_token":"r+1","expires_in":60}"#))

        #expect(answer.token?.secret?.text == "a")
        #expect(answer.refreshToken?.text == "r+1")
    }

    private func read(_ body: String) -> TokenAnswer? {
        TokenAnswer(SharedSecret(text: body), sentAt: ManualClock.start)
    }
}
