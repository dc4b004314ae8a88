import Foundation
import JunctionTesting
import Testing

/// Tests of TLS with a private certificate authority.
@Suite struct TLSTests {
    /// Starts a daemon that trusts the authority of its cloud's certificate.
    private func trusting() throws -> Installation {
        let folder = TemporaryFolder()
        let authority = try TestAuthority(in: folder)
        let configuration = "[tls]\ncaFile = \"\(authority.file)\""
        let installation = try Installation(tls: authority, configuration: configuration, in: folder)
        try installation.startDaemon()
        return installation
    }

    @Test func `with tls.caFile a sign-in, a renewal and an API call work over TLS`() throws {
        let installation = try trusting()

        let user = try installation.signInNewUser()
        let client = try installation.connect()

        #expect(installation.cloud.url.hasPrefix("https://"))
        #expect(try client.call("session.renew").userId == user)
        let answer = try client.call("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        #expect(answer["status"] as? Int == 200)
    }

    @Test func `a sandbox behind a TLS proxy uses the origin of the proxy`() throws {
        let folder = TemporaryFolder()
        let installation = try Installation(tls: TestAuthority(in: folder), in: folder)

        let arguments = ["-sSk", installation.cloud.url + "/oauth/.well-known/openid-configuration"]
        let discovery = try Program("/usr/bin/curl", arguments, in: folder).wait().json()

        #expect(discovery["issuer"] as? String == installation.cloud.url + "/oauth")
        let endpoint = try #require(discovery["token_endpoint"] as? String)
        #expect(endpoint.hasPrefix(installation.cloud.url + "/"))
    }

    @Test func `an untrusted certificate is reported as such and not as a timeout`() throws {
        let folder = TemporaryFolder()
        let installation = try Installation(tls: TestAuthority(in: folder), in: folder)
        try installation.startDaemon()
        let credential = try installation.cloud.credential(for: installation.cloud.makeUser())

        let error = try installation.connect().refusal("session.signIn", credential)

        #expect(error.code == 1006)
        #expect(error.kind == "providerUnavailable")
        #expect(error.message.contains("certificate"))
        #expect(error.message.contains("tls.caFile"))
        #expect(try installation.status().state == "notLoggedIn")
        #expect(try installation.cloud.counter("tokenRequests") == 0)
    }

    @Test func `a certificate that becomes invalid later fails a renewal and keeps the session`() throws {
        let installation = try trusting()
        let user = try installation.signInNewUser()
        installation.configuration = ""
        try installation.restartDaemon()

        let error = try installation.connect().refusal("session.renew")

        #expect(error.message.contains("certificate"))
        #expect(try installation.status().userId == user)
        #expect(try installation.token() != nil)
    }

    @Test(arguments: ["", "not a certificate"])
    func `a tls.caFile without a certificate stops the start`(content: String) throws {
        let installation = try Installation()
        let file = try installation.folder.write(content, to: "ca.pem")
        installation.configuration = "[tls]\ncaFile = \"\(file)\""

        try installation.launchDaemon()
        let ending = try #require(try installation.daemon?.wait())

        #expect(ending.status == 78)
        #expect(ending.errors.contains(file))
    }
}
