import Foundation
import JunctionTesting

/// Invalid Sign-In Tokens.
enum Forgery {
    private static let issuer = "id-signer-stg-us@vital-id-stg-us.iam.gserviceaccount.com"
    private static let header = ["alg": "RS256", "typ": "JWT"]
    private static var claims: Object {
        [
            "iss": issuer, "uid": "c36d4df5-e373-425d-aae7-8b091b003ddd", "tenant_id": "t-7eae574d8b784ae0ac-ab12cd",
            "claims": ["vital_team_id": "7eae574d-8b78-4ae0-ac8d-ecbe567b5555"],
        ]
    }

    /// Malformed tokens, each with a description of the defect.
    static var malformed: [(fault: String, token: String)] {
        [
            ("not base64", "%%% not base64 %%%"),
            ("base64 of no JSON", Data("hello".utf8).base64EncodedString()),
            ("no user_token", envelope(["public_key": "pk"])),
            ("user_token is a number", envelope(["public_key": "pk", "user_token": 7])),
            ("a JWT of two parts", envelope(jwt: jwt().split(separator: ".").dropLast().joined(separator: "."))),
            ("a JWT of four parts", envelope(jwt: jwt() + ".x")),
            ("a header that is no base64", envelope(jwt: "!!." + jwt().split(separator: ".", maxSplits: 1)[1])),
            ("another algorithm", envelope(jwt: jwt(header: ["alg": "HS256", "typ": "JWT"]))),
            ("no algorithm at all", envelope(jwt: jwt(header: ["alg": "none", "typ": "JWT"]))),
            ("another type", envelope(jwt: jwt(header: ["alg": "RS256", "typ": "JWE"]))),
            ("an unknown issuer", envelope(jwt: jwt(claim: "iss", "attacker@example.com"))),
            ("an unknown environment", envelope(jwt: jwt(claim: "iss", issuer.replacing("stg", with: "qa")))),
            ("an unknown region", envelope(jwt: jwt(claim: "iss", issuer.replacing("us@", with: "xx@")))),
            ("no user", envelope(jwt: jwt(claim: "uid", nil))),
            ("a user that is a number", envelope(jwt: jwt(claim: "uid", 7))),
            ("no team", envelope(jwt: jwt(claim: "claims", nil))),
        ]
    }

    /// Returns the JWT inside a Sign-In Token.
    static func jwt(of token: String) throws -> String {
        guard let envelope = Data(base64Encoded: token),
            let object = try JSONSerialization.jsonObject(with: envelope) as? Object,
            let jwt = object["user_token"] as? String
        else { throw Program.Failure(description: "Not a Sign-In Token") }
        return jwt
    }

    private static func envelope(_ object: Object) -> String {
        json(object).base64EncodedString()
    }

    private static func envelope(jwt: String) -> String {
        envelope(["public_key": "pk", "user_token": jwt])
    }

    private static func jwt(claim name: String, _ value: Any?) -> String {
        var changed = claims
        changed[name] = value
        return jwt(claims: changed)
    }

    private static func jwt(header: Object = header, claims: Object = claims) -> String {
        [json(header), json(claims), Data("signature".utf8)].map { part in
            part.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }.joined(separator: ".")
    }

    private static func json(_ object: Object) -> Data {
        (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
    }
}
