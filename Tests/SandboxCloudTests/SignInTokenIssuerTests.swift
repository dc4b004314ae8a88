import Foundation
import JunctionText
import Testing

@testable import SandboxCloud

@Suite struct SignInTokenIssuerTests {
    let now = Date(timeIntervalSince1970: 1_795_000_000)
    let mint: SignInTokenIssuer
    let anna: User

    init() throws {
        mint = try SignInTokenIssuer()
        anna = User(
            vendor: .junction,
            userId: "u-1",
            name: "anna",
            createdAt: now,
            junction: JunctionProfile(team: .example)
        )
    }

    @Test(arguments: [
        ("pk_us_x", "prd-us"), ("pk_eu_x", "prd-eu"), ("sk_us_x", "stg-us"), ("sk_eu_x", "stg-eu"),
    ])
    func `the issuer contains the environment and region of the API key`(key: String, place: String) throws {
        let team = try #require(Team(apiKey: key))
        let user = User(
            vendor: .junction,
            userId: "u-1",
            name: "anna",
            createdAt: now,
            junction: JunctionProfile(team: team)
        )

        let claims = try payload(of: try mint.token(for: user, now: now))

        #expect(claims["iss"] == .string("id-signer-\(place)@vital-id-\(place).iam.gserviceaccount.com"))
        #expect(claims["uid"] == .string(user.userId))
        #expect(claims["tenant_id"] == .string(team.tenant))
        #expect(claims["claims"]?["vital_team_id"] == .string(team.id))
        #expect(claims["exp"] == .integer(1_795_003_600))
    }

    @Test func `the token has the header that Junction's SDKs require`() throws {
        let jwt = try userToken(in: try mint.token(for: anna, now: now))

        let header = try #require(Base64.decode(jwt.split(separator: ".")[0].utf8, .urlSafe))

        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT"}"#)
    }

    @Test func `the mint verifies its own tokens`() throws {
        let claims = try #require(mint.read(try userToken(in: try mint.token(for: anna, now: now))))

        #expect(claims.userId == anna.userId)
        #expect(claims.teamId == Team.example.id)
        #expect(claims.expiresAt == now + 3600)
    }

    @Test func `a token with another payload or signature is refused`() throws {
        let parts = try userToken(in: try mint.token(for: anna, now: now)).split(separator: ".")
        let other = try userToken(in: try mint.token(for: anna, now: now)).split(separator: ".")
        let forged = SignInTokenIssuer.Changes(forged: true)

        #expect(mint.read("\(parts[0]).\(other[1]).\(parts[2])") == nil)
        #expect(mint.read("\(parts[0]).\(parts[1])") == nil)
        #expect(mint.read(try userToken(in: try mint.token(for: anna, now: now, changes: forged))) == nil)
    }

    @Test func `claims can be added, replaced and removed`() throws {
        let changes = SignInTokenIssuer.Changes(
            environment: .dev,
            claims: ["uid": .null, "tenant_id": "t-other", "extra": .integer(1)]
        )

        let claims = try payload(of: try mint.token(for: anna, now: now, changes: changes))

        #expect(claims["uid"] == nil)
        #expect(claims["tenant_id"] == "t-other")
        #expect(claims["extra"] == .integer(1))
        #expect(claims["iss"]?.string?.hasPrefix("id-signer-dev-us@") == true)
    }

    @Test func `an API key is always the same team, and another key another team`() throws {
        #expect(Team(apiKey: "sk_us_a") == Team(apiKey: "sk_us_a"))
        #expect(Team(apiKey: "sk_us_a")?.id != Team(apiKey: "sk_us_b")?.id)
        #expect(Team(apiKey: "sk_xx_a") == nil)
        #expect(UUID(uuidString: Team.example.id)?.uuidString.lowercased() == Team.example.id)
    }

    private func payload(of token: String) throws -> JSONValue {
        let part = try userToken(in: token).split(separator: ".")[1]
        return try JSONDecoder().decode(JSONValue.self, from: Data(#require(Base64.decode(part.utf8, .urlSafe))))
    }
}
