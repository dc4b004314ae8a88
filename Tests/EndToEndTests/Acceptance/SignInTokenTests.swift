import Foundation
import JunctionTesting
import Testing

/// Tests of the Sign-In Token and its exchange.
@Suite struct SignInTokenTests {
    @Test func `a malformed Sign-In Token is refused without a call and without a change`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()
        let before = try client.call("session.status")

        // `JunctionProvidersTests.SignInTokenTests` has all rules.
        let error = try client.refusal("session.signIn", ["scheme": "signInToken", "token": "%%% not base64 %%%"])

        #expect(error.kind == "invalidCredential")
        #expect(error.code == 1002)
        #expect(try installation.cloud.counter("tokenRequests") == 0)
        let after = try client.call("session.status")
        #expect(after.state == "notLoggedIn")
        #expect(after.revision == before.revision)
    }

    @Test(
        arguments: [("sandbox", "us"), ("sandbox", "eu"), ("production", "us"), ("production", "eu")]
    )
    func `environment and region come only from the token`(environment: String, region: String) throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let place: Object = ["environment": environment, "region": region]
        let token = try installation.cloud.signInToken(for: user, place)

        let snapshot = try installation.connect().call("session.signIn", ["scheme": "signInToken", "token": token])

        #expect(snapshot.userId == user)
        #expect(snapshot["environment"] as? String == environment)
        #expect(snapshot["region"] as? String == region)
    }

    @Test func `a token in a lenient form of base64 is accepted`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let strict = try installation.cloud.signInToken(for: user)
        let lenient = strict.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .trimmingCharacters(in: ["="])

        let snapshot = try installation.connect().call("session.signIn", ["scheme": "signInToken", "token": lenient])

        #expect(snapshot.state == "established")
        #expect(snapshot.userId == user)
    }

    @Test func `the exchange is one form POST with the inner JWT and no other credential`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let token = try installation.cloud.signInToken(for: user)

        try installation.connect().call("session.signIn", ["scheme": "signInToken", "token": token])

        let requests = try installation.cloud.requests(to: "/v1/token")
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request["method"] as? String == "POST")
        #expect((request["contentType"] as? String)?.hasPrefix("application/x-www-form-urlencoded") == true)
        let headers = try #require(request["headers"] as? [String])
        #expect(!headers.contains("authorization"))
        #expect(!headers.contains("x-vital-api-key"))
        let form = try #require(request["form"] as? [[String: String]])
        #expect(form.compactMap { $0["name"] }.sorted() == ["grant_type", "subject_token", "subject_token_type"])
        let values = Dictionary(uniqueKeysWithValues: form.map { ($0["name"] ?? "", $0["value"] ?? "") })
        #expect(values["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
        #expect(values["subject_token_type"] == "urn:junction:sign-in-token")
        let sum = try Program("/usr/bin/sha256sum", [], in: installation.folder, input: Cloud.jwt(of: token)).wait()
        #expect(values["subject_token"]?.dropFirst("sha256:".count) == sum.output.prefix(64))
    }

    @Test func `the session is stored and the Sign-In Token is not`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let token = try installation.cloud.signInToken(for: user)

        let snapshot = try installation.connect().call("session.signIn", ["scheme": "signInToken", "token": token])

        #expect(snapshot.state == "established")
        #expect(snapshot.isDurable)
        #expect(Set(snapshot.flags) == ["configured", "signedIn", "useSignInToken"])
        let secrets = [token, try Cloud.jwt(of: token)]
        #expect(SecretSearch.found(secrets, inFilesBelow: installation.stateDirectory) == [])
        try installation.restartDaemon()
        #expect(try installation.status().userId == user)
    }

    @Test func `an exchange that the provider refuses is an invalid credential and changes nothing`() throws {
        let installation = try Installation.started()
        let user = try installation.cloud.makeUser()
        let client = try installation.connect()

        for wish in ["forged", "expired"] {
            let token = try installation.cloud.signInToken(for: user, [wish: true])
            let error = try client.refusal("session.signIn", ["scheme": "signInToken", "token": token])
            #expect(error.kind == "invalidCredential", "\(wish)")
        }
        try installation.cloud.fault([
            "match": "/v1/token", "times": 1, "status": 401,
            "body": ["detail": ["error_type": "reauthentication_required"]],
        ])
        let error = try client.refusal("session.signIn", try installation.cloud.credential(for: user))

        #expect(error.kind == "invalidCredential")
        #expect(try client.call("session.status").state == "notLoggedIn")
        #expect(try installation.ctl("status").status == 3)
    }

    @Test func `any other answer to an exchange is a provider error and changes nothing`() throws {
        let installation = try Installation.started()
        let client = try installation.connect()
        let user = try installation.cloud.makeUser()
        let faults: [Object] = [
            ["status": 400, "body": ["detail": ["error_type": "something_new"]]],
            ["status": 404, "body": "<html>", "contentType": "text/html"],
            ["status": 429, "headers": ["Retry-After": "17"]],
            ["status": 503],
            ["status": 302, "headers": ["Location": "http://127.0.0.1:1/"]],
            ["status": 200, "body": "<html>", "contentType": "text/html"],
            ["malformed": true],
            ["drop": "before"],
            ["drop": "after"],
            ["oversize": 10_000_000],
        ]

        for fault in faults {
            let spoilt: Object = ["match": "/v1/token", "times": 1]
            try installation.cloud.fault(fault.merging(spoilt) { $1 })
            let error = try client.refusal("session.signIn", try installation.cloud.credential(for: user))
            #expect(error.kind == "providerUnavailable", "\(fault)")
            #expect(error.code == 1006)
            if fault["status"] as? Int == 429 { #expect(error.retryAfter == 17) }
            #expect(try client.call("session.status").state == "notLoggedIn", "\(fault)")
        }

        #expect(try installation.signIn(user).state == "established")
    }
}
