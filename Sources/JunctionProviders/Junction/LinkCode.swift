import JunctionSecret
import JunctionSession
import JunctionText

/// A code of twelve characters that a person can type. It stands for a Sign-In Token, is valid for about an hour, and
/// can be used once.
struct LinkCode: Sendable {
    /// The code, such as `skus0a1b2c3d`: the site, then eight hexadecimal digits.
    let text: String
    let site: JunctionSite

    init(_ code: SharedSecret) throws(CredentialRefused) {
        let malformed = CredentialRefused.malformed(
            "Not a link code: expected sk or pk, us or eu, and eight hexadecimal digits, without a JSON object around them"
        )
        // A longer text cannot be a code and is not copied.
        guard code.count <= 64 else { throw malformed }
        let text = code.ofLinkCode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }

        guard text.utf8.count == 12, text.utf8.dropFirst(4).allSatisfy(Self.isHexDigit),
            let region = JunctionSite.Region(rawValue: String(text.dropFirst(2).prefix(2)))
        else { throw malformed }
        switch text.prefix(2) {
        case "sk": self.site = JunctionSite(.sandbox, region)
        case "pk": self.site = JunctionSite(.production, region)
        default: throw malformed
        }
        self.text = text
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Hexadecimal.value(of: byte) != nil }
}
