import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct SignInTokenTests {
    @Test(arguments: [
        ("dev-us", "dev", "us"), ("stg-us", "sandbox", "us"), ("stg-eu", "sandbox", "eu"),
        ("prd-us", "production", "us"),
        ("prd-eu", "production", "eu"), ("production-us", "production", "us"), ("sandbox-eu", "sandbox", "eu"),
    ])
    func `user, team and site come from the claims`(place: String, environment: String, region: String) throws {
        let token = try read(Sample.token(Sample.jwt(claims: Sample.claims(place: place))))

        #expect(
            token.identity
                == Identity(userId: Sample.userId, teamId: Sample.teamId, environment: environment, region: region)
        )
    }

    @Test func `the exchange sends the JWT without its envelope`() throws {
        #expect(try read(Sample.token()).userToken.text == Sample.jwt())
    }

    @Test func `a user id in capitals is the same user`() throws {
        let token = try read(Sample.token(Sample.jwt(claims: Sample.claims(uid: Sample.userId.uppercased()))))

        #expect(token.identity.userId == Sample.userId)
    }

    @Test func `line breaks, missing padding and the URL-safe alphabet are accepted`() throws {
        let text = Sample.token().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let folded = "  \(text.prefix(76))\r\n\(text.dropFirst(76))\n"

        #expect(try read(folded).identity == Sample.identity)
    }

    static let malformed: [(String, String)] = [
        ("not Base64", "%%%"),
        ("JSON", Sample.base64("nothing")),
        ("JSON", Sample.base64("[]")),
        ("JSON", ""),
        ("public_key", Sample.base64(#"{"user_token":"a.b.c"}"#)),
        ("public_key", Sample.base64(#"{"public_key":7,"user_token":"a.b.c"}"#)),
        ("user_token", Sample.base64(#"{"public_key":"k"}"#)),
        ("user_token", Sample.base64(#"{"public_key":"k","user_token":{}}"#)),
        ("three parts", Sample.token("a.b")),
        ("three parts", Sample.token(Sample.jwt() + ".d")),
        ("three parts", Sample.token("")),
        ("header is not JSON", Sample.token("..")),
        ("header is not Base64", Sample.token("!.b.c")),
        ("alg", Sample.token(Sample.jwt(header: #"{"alg":"none","typ":"JWT"}"#))),
        ("alg", Sample.token(Sample.jwt(header: #"{"alg":"rs256","typ":"JWT"}"#))),
        ("alg", Sample.token(Sample.jwt(header: #"{"typ":"JWT"}"#))),
        ("typ", Sample.token(Sample.jwt(header: #"{"alg":"RS256"}"#))),
        ("typ", Sample.token(Sample.jwt(header: #"{"alg":"RS256","typ":1}"#))),
        ("claims is not JSON", Sample.token(Sample.jwt(claims: "7"))),
        ("iss", Sample.token(Sample.jwt(claims: "{}"))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims(place: "stg-asia")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims(place: "local-eu")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims(place: "stg")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims(place: "stg-us-")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims(place: "STG-US")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims().replacing("vital-id-stg", with: "vital-id-prd")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims().replacing(".iam.gs", with: "-iam.gs")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims().replacing("account.com\"", with: "account.com.x\"")))),
        ("iss", Sample.token(Sample.jwt(claims: Sample.claims().replacing("id-signer", with: "x-id-signer")))),
        ("uid", Sample.token(Sample.jwt(claims: Sample.claims(uid: "")))),
        ("uid", Sample.token(Sample.jwt(claims: Sample.claims(uid: "a b")))),
        ("uid", Sample.token(Sample.jwt(claims: Sample.claims(uid: "a\\u000ab")))),
        ("uid", Sample.token(Sample.jwt(claims: Sample.claims(uid: String(repeating: "a", count: 257))))),
        ("vital_team_id", Sample.token(Sample.jwt(claims: Sample.claims(team: "")))),
        ("vital_team_id", Sample.token(Sample.jwt(claims: Sample.claims().replacing("\"claims\"", with: "\"x\"")))),
        ("tenant_id", Sample.token(Sample.jwt(claims: Sample.claims(tenant: "")))),
        ("longer", String(repeating: "A", count: SignInToken.longest + 1)),
    ]

    @Test(arguments: malformed)
    func `an error about a malformed token names the rule and not the content`(rule: String, text: String) throws {
        let refused = #expect(throws: CredentialRefused.self) { try read(text) }

        let reason = try #require(refused?.reasonIfMalformed)
        #expect(reason.contains(rule))
        #expect(!reason.contains("stg-us") && !reason.contains(Sample.userId) && !reason.contains("eyJ"))
    }

    private func read(_ text: String) throws -> SignInToken { try SignInToken(SharedSecret(text: text)) }
}
