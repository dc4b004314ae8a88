import JunctionProviders
import JunctionSecret
import JunctionSession
import Testing

/// What a vendor tells about itself so that the conformance suite can examine its adapter.
struct VendorUnderTest: Sendable, CustomTestStringConvertible {
    var name: String
    /// The adapter, with all of the vendor's hosts at one URL.
    var provider: @Sendable (_ url: String, OutgoingHttp, any SessionClock) throws -> any IdentityProvider
    var credential: Credential
    /// Whom the credential is for.
    var identity: Identity
    /// Whether the credential says that itself.
    var isNamed = true
    var secrets: SessionSecrets

    /// Success, for an exchange and for a renewal with and without a new refresh token: the access token is
    /// `access-1` and lives for an hour.
    var granted: ScriptedServer.Step
    var rotated: ScriptedServer.Step
    var notRotated: ScriptedServer.Step
    /// The refresh token that these bring; `nil` where the vendor has none.
    var refreshToken: String? = "refresh-1"
    /// With what a renewal is asked for.
    var answer = RenewalAnswer.renew
    /// The vendor's words for a user who is gone, where it has some, and the code of the termination they come to.
    var terminated: ScriptedServer.Step?
    var terminationCode: String
    /// Whether the vendor wants to hear of a sign-out.
    var revokes = true
    /// The vendor's words for a session that it does not have any more, in the answer to a sign-out.
    var settled: ScriptedServer.Step?
    /// The vendor's words for a credential that it does not accept.
    var refused: ScriptedServer.Step

    var testDescription: String { name }

    static let all = [junction, social, sinch, oauth]

    static let junction = VendorUnderTest(
        name: "junction",
        provider: { JunctionProvider(cloud: try JunctionCloud(authUrl: $0, apiUrl: $0), http: $1, clock: $2) },
        credential: Sample.credential(),
        identity: Sample.identity,
        secrets: SessionSecrets(
            accessToken: SharedSecret(text: "access-secret"),
            refreshToken: SharedSecret(text: "refresh-secret")
        ),
        granted: .json(200, #"{"access_token":"access-1","refresh_token":"refresh-1","expires_in":3600}"#),
        rotated: .json(200, #"{"access_token":"access-1","refresh_token":"refresh-1","expires_in":"3600"}"#),
        notRotated: .json(200, #"{"access_token":"access-1","expires_in":3600}"#),
        terminated: .json(401, #"{"detail":{"error_type":"invalid_token"}}"#),
        terminationCode: "invalid_token",
        revokes: false,
        refused: .json(401, #"{"detail":{"error_type":"invalid_token"}}"#)
    )
}

extension Stage {
    func provider(of vendor: VendorUnderTest, url: String? = nil) throws -> any IdentityProvider {
        try vendor.provider(url ?? server.url, http, clock)
    }

    /// Why the vendor's renewal failed; `nil` when it did not.
    func renewalFailure(
        _ vendor: VendorUnderTest,
        with secrets: SessionSecrets? = nil,
        using answer: RenewalAnswer? = nil
    ) async throws -> RenewalFailure? {
        let provider = try provider(of: vendor)
        let secrets = secrets ?? vendor.secrets
        do throws(RenewalFailure) {
            _ = try await provider.renew(vendor.identity, with: secrets, using: answer ?? vendor.answer)
            return nil
        } catch {
            return error
        }
    }

    /// Why the vendor was not told of a sign-out; `nil` when there is nothing more to tell.
    func revocationFailure(_ vendor: VendorUnderTest) async throws -> Unavailability? {
        let provider = try provider(of: vendor)
        do throws(Unavailability) {
            try await provider.revoke(vendor.identity, with: vendor.secrets)
            return nil
        } catch {
            return error
        }
    }

    /// Why the vendor's exchange failed; `nil` when it did not.
    func exchangeFailure(_ vendor: VendorUnderTest, url: String? = nil) async throws -> ExchangeFailure? {
        let provider = try provider(of: vendor, url: url)
        do throws(ExchangeFailure) {
            _ = try await provider.exchange(vendor.credential, expecting: nil)
            return nil
        } catch {
            return error
        }
    }
}

extension RenewalFailure {
    var unavailability: Unavailability? {
        guard case .unavailable(let why) = self else { return nil }
        return why
    }
}

extension ExchangeFailure {
    var unavailability: Unavailability? {
        guard case .unavailable(let why) = self else { return nil }
        return why
    }
}
