import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

/// The facts of a provider that the conformance suite needs to test its provider.
struct ProviderUnderTest: Sendable, CustomTestStringConvertible {
    var name: String
    /// Makes the provider, with all hosts of the provider at one URL.
    var provider: @Sendable (_ url: String, OutgoingHTTP, any SessionClock) throws -> any IdentityProvider
    var credential: Credential
    /// The user of the credential.
    var identity: Identity
    /// Whether the credential itself names its user.
    var isNamed = true
    var secrets: SessionSecrets

    /// The successful answer to an exchange, and to a renewal with a new refresh token. The access token is `access-1`
    /// and is valid for an hour.
    var granted: ScriptedServer.Step
    var rotated: ScriptedServer.Step
    var notRotated: ScriptedServer.Step
    /// The refresh token in these answers; `nil` if the provider has none.
    var refreshToken: String? = "refresh-1"
    /// The input for a renewal.
    var answer = RenewalAnswer.renew
    /// Answers of a session handler that the provider refuses without a request.
    var invalidAnswers: [RenewalAnswer]
    /// The provider's answer for a deleted or banned user, if it has one, and the code of the resulting termination.
    var terminated: ScriptedServer.Step?
    var terminationCode: String
    /// Whether the provider revokes at a sign-out.
    var revokes = true
    /// The provider's answer to a sign-out of a session that no longer exists.
    var alreadyRevoked: ScriptedServer.Step?
    /// The provider's answer that refuses a credential.
    var refused: ScriptedServer.Step

    var testDescription: String { name }

    static let all = [junction, social, sinch, oauth]

    static let junction = ProviderUnderTest(
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
        invalidAnswers: [
            .authToken(SharedSecret(text: "nonsense")),
            .authToken(SharedSecret(text: Sample.token(Sample.jwt(claims: Sample.claims(uid: Sample.otherUserId))))),
            .anySignature,
        ],
        terminated: .json(401, #"{"detail":{"error_type":"invalid_token"}}"#),
        terminationCode: "invalid_token",
        revokes: false,
        refused: .json(401, #"{"detail":{"error_type":"invalid_token"}}"#)
    )
}

extension RenewalAnswer {
    /// A signature for a provider without such a scheme.
    static let anySignature = RenewalAnswer.signature(SharedSecret(text: "AAAA"), sequence: 1)
}

extension Stage {
    func provider(of tested: ProviderUnderTest) throws -> any IdentityProvider {
        try tested.provider(server.url, http, clock)
    }

    func renewalFailure(
        _ tested: ProviderUnderTest,
        with secrets: SessionSecrets? = nil,
        using answer: RenewalAnswer? = nil
    ) async throws -> RenewalFailure? {
        try await provider(of: tested)
            .renewalFailure(tested.identity, with: secrets ?? tested.secrets, using: answer ?? tested.answer)
    }

    func revocationFailure(_ tested: ProviderUnderTest) async throws -> Unavailability? {
        let provider = try provider(of: tested)
        return await thrown { () throws(Unavailability) in
            try await provider.revoke(tested.identity, with: tested.secrets)
        }
    }

    func exchangeFailure(_ tested: ProviderUnderTest) async throws -> ExchangeFailure? {
        try await provider(of: tested).exchangeFailure(tested.credential)
    }
}
