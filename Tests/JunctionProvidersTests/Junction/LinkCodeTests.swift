import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct LinkCodeTests {
    @Test(arguments: [
        ("skus0a1b2c3d", JunctionSite(.sandbox, .us)), ("skeu00000000", JunctionSite(.sandbox, .eu)),
        ("pkusffffffff", JunctionSite(.production, .us)), (" PKEU0A1B2C3D\n", JunctionSite(.production, .eu)),
        ("SKUS-0A1B-2C3D", JunctionSite(.sandbox, .us)), ("sk us 0a1b 2c3d", JunctionSite(.sandbox, .us)),
    ])
    func `a code names its site in any spelling`(text: String, site: JunctionSite) throws {
        let code = try LinkCode(SharedSecret(text: text))

        #expect(code.site == site)
        #expect(code.text == text.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    @Test(arguments: [
        "", "skus0a1b2c3", "skus0a1b2c3d4", "skus0a1b2c3g", "skca0a1b2c3d", "xkus0a1b2c3d", "sk-us0a1b2c3",
        "skus_0a1b2c3d",
        "skus0a1b2c3d&code=x", "ſkus0a1b2c3d",
    ])
    func `an invalid code is refused, and the error does not repeat it`(text: String) {
        let refused = #expect(throws: CredentialRefused.self) { try LinkCode(SharedSecret(text: text)) }

        let words =
            "Not a link code: expected sk or pk, us or eu, and eight hexadecimal digits, without a JSON object around them"
        #expect(refused == .malformed(words))
    }
}
