import Foundation
import JunctionText
import Testing

@testable import RegistrationToken

struct MintTests {
    @Test func `the published token is reproduced byte for byte`() throws {
        let token = try RegistrationToken(
            applicationKey: Published.applicationKey,
            userId: "foo",
            issuedAt: Published.now,
            nonce: Published.nonce
        )

        #expect(token.signed(with: try Published.secret) == Published.sorted)
    }

    @Test func `the end of the registration is in its place among the claims`() throws {
        let token = try mint(instanceTimeToLive: 172_800)
        let claims = try part(1, of: token.signed(with: try Published.secret))

        #expect(
            claims == """
                {"exp":1514862845,"iat":1514862245,"iss":"//rtc.sinch.com/applications/k","nonce":"n",\
                "sinch:rtc:instance:exp":1515035045,"sub":"//rtc.sinch.com/applications/k/users/foo"}
                """
        )
    }

    @Test func `characters that need an escape are escaped, and a slash is not`() throws {
        let token = try mint(user: #"a/"\b"#, nonce: "tab\tend é")
        let jwt = token.signed(with: try Published.secret)

        #expect(try part(1, of: jwt).contains(#""nonce":"tab\tend é","sub":"//rtc.sinch.com"#))
        #expect(try part(1, of: jwt).hasSuffix(#"/users/a/\"\\b"}"#))
        #expect(try RegistrationToken.inspect(jwt.utf8) == token)
    }

    @Test(
        arguments: [
            ("", .subject), ("a b", .subject), ("é", .subject), ("a\n", .subject),
            (String(repeating: "a", count: 41), .subject),
        ] as [(String, RegistrationToken.Rule)]
    )
    func `a token for an invalid user id is refused`(user: String, rule: RegistrationToken.Rule) {
        #expect(throws: rule) { try mint(user: user) }
    }

    @Test(arguments: ["!", "~", "A/b/users/c", String(repeating: "a", count: 40), "anna@example.com"])
    func `a token for a printable user id is made and read back`(user: String) throws {
        let jwt = try mint(user: user).signed(with: try Published.secret)

        #expect(try RegistrationToken.inspect(jwt.utf8).userId == user)
    }

    @Test(
        arguments: [
            (59, nil, .timeToLive), (-1, nil, .timeToLive), (.max, nil, .expiresAt), (60, 172_799, .instanceExpiry),
            (60, .max, .instanceExpiry),
        ] as [(Int64, Int64?, RegistrationToken.Rule)]
    )
    func `a life that is too short or too long is refused`(
        timeToLive: Int64,
        instance: Int64?,
        rule: RegistrationToken.Rule
    ) {
        #expect(throws: rule) { try mint(timeToLive: timeToLive, instanceTimeToLive: instance) }
    }

    @Test func `an application key with a slash is refused`() {
        #expect(throws: RegistrationToken.Rule.issuer) {
            try RegistrationToken(applicationKey: "k/users/x", userId: "foo", issuedAt: Published.now)
        }
    }

    @Test func `two tokens have different nonces`() throws {
        let nonces = try Set((0..<64).map { _ in try mint(nonce: RegistrationToken.freshNonce()).nonce })

        #expect(nonces.count == 64)
        #expect(nonces.allSatisfy { $0.utf8.count == 32 })
    }

    private func mint(
        user: String = "foo",
        timeToLive: Int64 = 600,
        instanceTimeToLive: Int64? = nil,
        nonce: String = "n"
    ) throws -> RegistrationToken {
        try RegistrationToken(
            applicationKey: "k",
            userId: user,
            issuedAt: Published.now,
            timeToLive: timeToLive,
            instanceTimeToLive: instanceTimeToLive,
            nonce: nonce
        )
    }

    private func part(_ index: Int, of jwt: String) throws -> String {
        String(decoding: try #require(Base64.decode(jwt.split(separator: ".")[index].utf8, .urlSafe)), as: UTF8.self)
    }
}
