import Crypto
import Foundation
import Testing

@testable import RegistrationToken

struct SigningKeyTests {
    @Test(
        arguments: [
            (1_514_862_245, "AZj5EsS8S7wb06xr5jERqPHsraQt3w/+Ih5EfrhisBQ="),
            (1_514_764_800, "9zuYD/piq2p+imWd46BCLxSWml4BsB/x8NiiF70nxe4="),
            (1_514_937_600, "l6X2iNjao6qzy6De7xzBRf9c+OVhDwekYE5bhCJ1glU="),
            (1_577_923_200, "eDJeoLt3Y8EMf4/OQ8ULweCrt3pPvUU6PBPR5TFu2vQ="),
        ] as [(Int64, String)]
    )
    func `the key of a day is the HMAC of its eight digits`(time: Int64, key: String) throws {
        #expect(try signingKey(at: time) == key)
    }

    @Test func `the key differs from the keys of well-known mistakes`() throws {
        let withoutDecoding = "xlOjl5kXZ5IQNJ7yr+qDc6FzHMAMGUiDOu6+LxGCs8E="
        let realHKDF = "QZ0wUS4GiN4jhX/plycVTKXl1xmzsujfXPBXjrbM2u0="

        // The keys that result from these mistakes.
        let text = SymmetricKey(data: Data(Published.secretText.utf8))
        let decoded = SymmetricKey(data: try #require(Data(base64Encoded: Published.secretText)))
        let day = Data("20180102".utf8)
        #expect(Data(HMAC<SHA256>.authenticationCode(for: day, using: text)).base64EncodedString() == withoutDecoding)
        let derived = HKDF<SHA256>.deriveKey(inputKeyMaterial: decoded, info: day, outputByteCount: 32)
        #expect(derived.withUnsafeBytes { Data($0) }.base64EncodedString() == realHKDF)

        let key = try signingKey(at: Published.now)
        #expect(key != withoutDecoding && key != realHKDF)
    }

    @Test(arguments: [
        "ax8hTTQJF0OPXL32r1LHMA", "ax8hTTQJF0OPXL32r1LHMA==\n", " \tax8hTTQJF0OPXL32r1LHMA==\r\n",
    ])
    func `a secret is read with and without padding, and with the line break of a file`(text: String) throws {
        let secret = try ApplicationSecret(base64: text.utf8)

        #expect(
            bytes(secret.signingKey(for: UTCDay(of: Published.now))) == "AZj5EsS8S7wb06xr5jERqPHsraQt3w/+Ih5EfrhisBQ="
        )
    }

    @Test(arguments: [
        "", " \n", "=", "a", "ax8h TTQJ", "ax8hTTQJF0OPXL32r1LHMA=", "ax8hTTQJF0OPXL32r1LHMA===", "ax8hTTQJF0OP-L32",
        "ax8hTTQJF0OPXL32r1LHMB==", "ä", String(repeating: "a", count: 1_025),
    ])
    func `an error about an invalid secret does not repeat it`(text: String) {
        let malformed = #expect(throws: ApplicationSecret.Malformed.self) { try ApplicationSecret(base64: text.utf8) }

        #expect(malformed?.description == "An application secret is Base64 text, as the vendor's dashboard shows it")
    }

    private func signingKey(at time: Int64) throws -> String {
        bytes(try Published.secret.signingKey(for: UTCDay(of: time)))
    }

    private func bytes(_ key: SymmetricKey) -> String {
        key.withUnsafeBytes { Data($0) }.base64EncodedString()
    }
}
