import Foundation
import Testing

/// Tests that a daemon refuses another provider's credentials before it sends a request.
struct ForeignSchemeTests {
    /// The schemes of each provider, each with a well-formed credential.
    private static var schemes: [(provider: TestedProvider, credential: Object)] {
        [
            (.junction, ["scheme": "signInToken", "token": "dG9rZW4="]),
            (.junction, ["scheme": "linkCode", "code": "skus1a2b3c4d"]),
            (
                .junction,
                [
                    "scheme": "apiKey", "apiKey": "sk_us_sandbox", "userId": "c36d4df5-e373-425d-aae7-8b091b003ddd",
                    "environment": "sandbox", "region": "us",
                ]
            ),
            (.social, ["scheme": "userLogin", "userId": "anna"]),
            (.sinch, ["scheme": "registration", "userId": "anna"]),
            (.sinch, ["scheme": "registration", "userId": "anna", "token": "a.b.c"]),
            (.sinch, ["scheme": "registrationSignature", "userId": "anna", "signature": "c2ln", "sequence": "7"]),
            (.sinch, ["scheme": "selfSigned", "userId": "anna"]),
            (.oauth, ["scheme": "device"]),
            (.oauth, ["scheme": "refreshToken", "refreshToken": "token"]),
            (
                .oauth,
                [
                    "scheme": "authorizationCode", "code": "code", "redirectUri": "http://127.0.0.1:1/",
                    "codeVerifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                ]
            ),
            (.oauth, ["scheme": "tokenExchange", "subjectToken": "token", "subjectTokenType": "urn:x:y"]),
        ]
    }

    @Test(arguments: TestedProvider.allCases)
    func `a credential of another provider's scheme is unsupported, and no request is sent`(provider: TestedProvider)
        throws
    {
        let installation = try provider.started()
        let client = try installation.connect()

        #expect(try client.call("daemon.info")["provider"] as? String == provider.rawValue)
        #expect(try client.call("session.status")["provider"] as? String == provider.rawValue)
        for (owner, credential) in Self.schemes where owner != provider {
            let scheme = credential["scheme"] as? String ?? ""
            let refusal = try client.refusal("session.signIn", credential)
            #expect(refusal.kind == "unsupported", "\(scheme): \(refusal)")
            #expect(refusal.code == 1_012)
            #expect(refusal.message.contains(scheme), "\(refusal)")
        }
        #expect(try client.call("session.status").state == "notLoggedIn")
        #expect(try installation.cloud.counter("requests") == 0)

        let snapshot = try client.call("session.signIn", provider.credential(installation))
        #expect(snapshot.state == "established")
        for (owner, credential) in Self.schemes where owner != provider {
            #expect(try client.refusal("session.signIn", credential).kind == "unsupported")
        }
        #expect(try client.call("session.status").userId == snapshot.userId)
    }
}
