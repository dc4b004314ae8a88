import Crypto
import Foundation
import JunctionText
import Testing

@testable import RegistrationToken

struct VerifyTests {
    @Test(arguments: [Published.sorted, Published.documented])
    func `every published token is valid`(jwt: String) throws {
        let token = try RegistrationToken.verify(jwt.utf8, with: Published.secret, at: Published.now)

        #expect(token.applicationKey == Published.applicationKey)
        #expect(token.userId == "foo")
        #expect(token.nonce == Published.nonce)
        #expect(token.issuedAt == Published.now)
        #expect(token.expiresAt == Published.now + 600)
        #expect(token.instanceExpiresAt == nil)
    }

    @Test(arguments: [
        #"{"kid":"hkdfv1-20180102","alg":"HS256"}"#, #"{"typ":"JWT","alg":"HS256","kid":"hkdfv1-20180102"}"#,
        #"{"alg":"HS256","type":"JWT","kid":"hkdfv1-20180102","x":[{}]}"#,
        #"{ "alg" : "HS256", "kid" : "hkdfv1-20180102" }"#,
    ])
    func `members of the header may be in any order, with others among them`(header: String) throws {
        #expect(try verify(forged(header: header)).userId == "foo")
    }

    @Test func `members of the claims may be in any order, with escaped slashes and others among them`() throws {
        let claims = #"""
            {"nonce":"n","sub":"\/\/rtc.sinch.com\/applications\/k\/users\/foo","exp":1514862845,"aud":["x"],
             "iss":"\/\/rtc.sinch.com\/applications\/k","sinch:rtc:instance:exp":1515035045,"iat":1514862245}
            """#
        let token = try verify(forged(claims: claims))

        #expect(token.userId == "foo")
        #expect(token.instanceExpiresAt == 1_515_035_045)
    }

    // MARK: Each rule alone

    @Test(arguments: [
        "", "a.b", "a.b.c.d", "..", "e30.e30", "!.e30.e30", "e30=.e30.e30", "W10.e30.e30", "e30.bnVsbA.e30",
        "e30.e30.\u{0}", String(repeating: "a", count: 5_000),
    ])
    func `a text that is not a JWT breaks the rule of form`(jwt: String) {
        #expect(throws: RegistrationToken.Rule.form) { try RegistrationToken.inspect(jwt.utf8) }
    }

    @Test(
        arguments: [
            (#"{"alg":"none","kid":"hkdfv1-20180102"}"#, .algorithm),
            (#"{"alg":"hs256","kid":"hkdfv1-20180102"}"#, .algorithm),
            (#"{"kid":"hkdfv1-20180102"}"#, .algorithm),
            (#"{"alg":["HS256"],"kid":"hkdfv1-20180102"}"#, .algorithm),
            (#"{"alg":"HS256"}"#, .keyIdForm),
            (#"{"alg":"HS256","kid":20180102}"#, .keyIdForm),
            (#"{"alg":"HS256","kid":"20180102"}"#, .keyIdForm),
            (#"{"alg":"HS256","kid":"hkdfv1-2018-1-2"}"#, .keyIdForm),
            (#"{"alg":"HS256","kid":"hkdfv1-201801020"}"#, .keyIdForm),
            (#"{"alg":"HS256","kid":"hkdfv1-٢٠١٨٠١٠٢"}"#, .keyIdForm),
            (#"{"alg":"HS256","kid":"hkdfv1-20180101"}"#, .keyIdDate),
            (#"{"alg":"HS256","kid":"hkdfv1-20180103"}"#, .keyIdDate),
            (#"{"alg":"HS256","kid":"hkdfv1-99999999"}"#, .keyIdDate),
            (#"{"alg":"HS256","kid":"hkdfv1-20180102","crit":["exp"]}"#, .form),
        ] as [(String, RegistrationToken.Rule)]
    )
    func `an invalid header names its rule, with and without the secret`(
        header: String,
        rule: RegistrationToken.Rule
    ) throws {
        let jwt = try forged(header: header)

        #expect(throws: rule) { try RegistrationToken.inspect(jwt.utf8) }
        #expect(throws: rule) { try verify(jwt) }
    }

    @Test(
        arguments: [
            (#""iss":null"#, .issuer), (#""iss":"//rtc.sinch.com/applications/""#, .issuer),
            (#""iss":"https://rtc.sinch.com/applications/k""#, .issuer),
            (#""iss":"//rtc.sinch.com/applications/k/""#, .issuer),
            ("\"iss\":\"//rtc.sinch.com/applications/\u{301}k\"", .issuer),
            (#""sub":null"#, .subject), (#""sub":"foo""#, .subject),
            (#""sub":"//rtc.sinch.com/applications/k/users/""#, .subject),
            (#""sub":"//rtc.sinch.com/applications/k/user/foo""#, .subject),
            (#""sub":"//rtc.sinch.com/applications/k/users/f oo""#, .subject),
            (#""sub":"//rtc.sinch.com/applications/other/users/foo""#, .subjectApplication),
            (#""iat":null"#, .issuedAt), (#""iat":"1514862245""#, .issuedAt), (#""iat":-1"#, .issuedAt),
            (#""iat":-0.5"#, .issuedAt), (#""iat":9223372036854775807"#, .issuedAt),
            (#""iat":1e30"#, .issuedAt), (#""iat":-1e30"#, .issuedAt),
            (#""iat":true"#, .issuedAt),
            (#""exp":null"#, .expiresAt), (#""exp":-9223372036854775808"#, .expiresAt),
            (#""exp":1514862845000"#, .expiresAt),
            (#""exp":1514862304"#, .timeToLive), (#""exp":0"#, .timeToLive),
            (#""nonce":null"#, .nonce), (#""nonce":"""#, .nonce), (#""nonce":7"#, .nonce),
            (#""sinch:rtc:instance:exp":1515035044"#, .instanceExpiry),
            (#""sinch:rtc:instance:exp":"1515035045""#, .instanceExpiry),
            (#""sinch:rtc:instance:exp":null"#, .instanceExpiry),
            (#""sinch:rtc:instance:exp":9223372036854775807"#, .instanceExpiry),
        ] as [(String, RegistrationToken.Rule)]
    )
    func `an invalid claim names its rule, with and without the secret`(
        claim: String,
        rule: RegistrationToken.Rule
    ) throws {
        let jwt = try forged(claims: claims(replacing: claim))

        #expect(throws: rule) { try RegistrationToken.inspect(jwt.utf8) }
        #expect(throws: rule) { try verify(jwt) }
    }

    @Test(arguments: zip(["iss", "sub", "iat", "exp", "nonce"], RegistrationToken.Rule.ofClaims))
    func `a missing claim names its rule`(name: String, rule: RegistrationToken.Rule) throws {
        let jwt = try forged(claims: claims(without: name))

        #expect(throws: rule) { try RegistrationToken.inspect(jwt.utf8) }
    }

    @Test(arguments: [#""exp":1514862305"#, #""sinch:rtc:instance:exp":1515035045"#])
    func `a life of exactly the minimum is accepted`(claim: String) throws {
        #expect(try verify(forged(claims: claims(replacing: claim))).userId == "foo")
    }

    // MARK: Signature

    @Test func `changing any byte breaks the signature or the form`() throws {
        let secret = try Published.secret
        let genuine = Array(Published.sorted.utf8)
        for index in genuine.indices where genuine[index] != UInt8(ascii: ".") {
            var changed = genuine
            changed[index] = genuine[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: RegistrationToken.Rule.self) {
                try RegistrationToken.verify(changed, with: secret, at: Published.now)
            }
        }
    }

    @Test func `claims of another user with the old signature are refused`() throws {
        let other = Base64.encodeURLSafe(Array(claims(replacing: #""nonce":"other""#).utf8))
        let genuine = try forged().split(separator: ".")
        let jwt = "\(genuine[0]).\(other).\(genuine[2])"

        #expect(try RegistrationToken.inspect(jwt.utf8).nonce == "other")
        #expect(throws: RegistrationToken.Rule.signature) { try verify(jwt) }
    }

    @Test(arguments: ["", "AAAA"])
    func `a signature of another length is refused`(signature: String) throws {
        let genuine = try forged().split(separator: ".")

        #expect(throws: RegistrationToken.Rule.signature) { try verify("\(genuine[0]).\(genuine[1]).\(signature)") }
    }

    @Test(arguments: [
        "xlOjl5kXZ5IQNJ7yr+qDc6FzHMAMGUiDOu6+LxGCs8E=", "QZ0wUS4GiN4jhX/plycVTKXl1xmzsujfXPBXjrbM2u0=",
        "9zuYD/piq2p+imWd46BCLxSWml4BsB/x8NiiF70nxe4=", "l6X2iNjao6qzy6De7xzBRf9c+OVhDwekYE5bhCJ1glU=",
        "ax8hTTQJF0OPXL32r1LHMA==",
    ])
    func `a token signed with a wrong key is refused: no decoding, real HKDF, the day before, the day after, no day`(
        key: String
    ) throws {
        let signingKey = SymmetricKey(data: try #require(Data(base64Encoded: key)))

        #expect(throws: RegistrationToken.Rule.signature) { try verify(forged(key: signingKey)) }
    }

    // MARK: Expected user and time

    @Test func `the caller states the expected application and user`() throws {
        let token = try RegistrationToken.inspect(Published.sorted.utf8)

        try token.requireApplication(Published.applicationKey)
        try token.requireUser("foo")
        #expect(throws: RegistrationToken.Rule.application) { try token.requireApplication("another") }
        #expect(throws: RegistrationToken.Rule.user) { try token.requireUser("Foo") }
    }

    @Test(
        arguments: [
            (-61, 60, .notYetValid), (-60, 60, nil), (0, 0, nil), (-1, 0, .notYetValid), (599, 0, nil),
            (600, 0, .expired),
            (659, 60, nil), (660, 60, .expired), (-9_000_000_000, 60, .notYetValid),
        ] as [(Int64, Int64, RegistrationToken.Rule?)]
    )
    func `a token is valid from its issue to its end, with a tolerance on both sides`(
        offset: Int64,
        tolerance: Int64,
        rule: RegistrationToken.Rule?
    ) throws {
        let token = try RegistrationToken.inspect(Published.sorted.utf8)
        let verified = Result {
            try RegistrationToken.verify(
                Published.sorted.utf8,
                with: Published.secret,
                at: Published.now + offset,
                tolerance: tolerance
            )
        }
        guard let rule else {
            #expect(try verified.get() == token)
            return
        }
        #expect(throws: rule) { try verified.get() }
        #expect(throws: rule) { try token.requireTime(Published.now + offset, tolerance: tolerance) }
    }

    @Test func `a token that is used after midnight keeps the key of its own day`() throws {
        let minted: Int64 = 1_514_937_599
        let token = try RegistrationToken(applicationKey: "k", userId: "foo", issuedAt: minted)
        let jwt = token.signed(with: try Published.secret)

        #expect(try RegistrationToken.verify(jwt.utf8, with: Published.secret, at: minted + 300) == token)
    }

    /// A server may read the clock separately for the key's date and for `iat`, or may backdate `iat` for slow clocks.
    @Test(
        arguments: [
            // Midnight is 1514937600.
            (1_514_937_300, 1_514_940_000, nil), (1_514_937_299, 1_514_940_000, .keyIdDate),
            (1_514_937_599, 1_514_937_600, nil), (1_514_937_600, 1_514_937_599, nil),
            (1_514_937_899, 1_514_930_000, nil), (1_514_937_900, 1_514_930_000, .keyIdDate),
            (1_514_937_600, 1_514_937_600, nil), (1_514_937_600, 1_515_024_000, .keyIdDate), (0, 0, nil),
        ] as [(Int64, Int64, RegistrationToken.Rule?)]
    )
    func `near midnight the key may be that of the neighbouring day`(
        issuedAt: Int64,
        keyMadeAt: Int64,
        rule: RegistrationToken.Rule?
    ) throws {
        let secret = try Published.secret
        let day = UTCDay(of: keyMadeAt)
        let jwt = try forged(
            header: #"{"alg":"HS256","kid":"hkdfv1-\#(day.digits)"}"#,
            claims: claims(issuedAt: "\(issuedAt)", expiresAt: "\(issuedAt + 600)"),
            key: secret.signingKey(for: day)
        )
        let verified = Result { try RegistrationToken.verify(jwt.utf8, with: secret, at: issuedAt) }
        guard let rule else {
            #expect(try verified.get().issuedAt == issuedAt)
            return
        }
        #expect(throws: rule) { try verified.get() }
    }

    @Test(arguments: [("1514862245.999", "1514862845.5"), ("1.514862245e9", "1514862845.0")])
    func `the fraction of a time is dropped`(issuedAt: String, expiresAt: String) throws {
        let token = try verify(forged(claims: claims(issuedAt: issuedAt, expiresAt: expiresAt)))

        #expect(token.issuedAt == 1_514_862_245 && token.expiresAt == 1_514_862_845)
    }

    @Test func `every rule has its own description`() {
        let words = Set(RegistrationToken.Rule.allCases.map(\.description))

        #expect(words.count == RegistrationToken.Rule.allCases.count)
    }
}

extension RegistrationToken.Rule {
    fileprivate static let ofClaims: [Self] = [.issuer, .subject, .issuedAt, .expiresAt, .nonce]
}

// MARK: Forged tokens

private let goodClaims: KeyValuePairs = [
    "iss": #""//rtc.sinch.com/applications/k""#,
    "sub": #""//rtc.sinch.com/applications/k/users/foo""#,
    "iat": "1514862245",
    "exp": "1514862845",
    "nonce": #""n""#,
]

/// Returns the valid claims with one replaced or added, such as `"iat":0`.
private func claims(replacing claim: String) -> String {
    let name = claim.hasPrefix(#""sinch:"#) ? "sinch:rtc:instance:exp" : claim.split(separator: "\"")[0].description
    return "{\(members(without: name).joined(separator: ",")),\(claim)}"
}

private func claims(without name: String) -> String { "{\(members(without: name).joined(separator: ","))}" }

private func claims(issuedAt: String, expiresAt: String) -> String {
    let others = goodClaims.filter { !["iat", "exp"].contains($0.key) }.map { #""\#($0.key)":\#($0.value)"# }
    return "{\(others.joined(separator: ",")),\"iat\":\(issuedAt),\"exp\":\(expiresAt)}"
}

private func members(without name: String) -> [String] {
    goodClaims.filter { $0.key != name }.map { #""\#($0.key)":\#($0.value)"# }
}

/// Returns a token with any header and claims. It has a correct signature unless another key is given.
private func forged(
    header: String = #"{"alg":"HS256","kid":"hkdfv1-20180102"}"#,
    claims: String = claims(without: ""),
    key: SymmetricKey? = nil
) throws -> String {
    let key = try key ?? Published.secret.signingKey(for: UTCDay(of: Published.now))
    let signed = "\(Base64.encodeURLSafe(header.utf8)).\(Base64.encodeURLSafe(claims.utf8))"
    return "\(signed).\(Base64.encodeURLSafe(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)))"
}

private func verify(_ jwt: String) throws -> RegistrationToken {
    try RegistrationToken.verify(jwt.utf8, with: Published.secret, at: Published.now)
}
