import Crypto
import Glibc
import JunctionText

/// An application's decoded secret, in memory that is wiped after use.
///
/// The vendor provides the secret as Base64 text. The text is read byte by byte and never becomes a `String`.
public struct ApplicationSecret: Sendable {
    private let key: SymmetricKey

    /// A text that is not an application secret.
    public struct Malformed: Error, Equatable, Sendable, CustomStringConvertible {
        /// The expected form, without the given text.
        public var description: String { "An application secret is Base64 text, as the vendor's dashboard shows it" }
    }

    /// The longest accepted text, in bytes. The vendor's secrets have 24.
    public static let longestText = 1_024

    /// Decodes the secret from its Base64 text, without the white space around it.
    ///
    /// The caller has to wipe the text.
    public init(base64 text: some BidirectionalCollection<UInt8>) throws(Malformed) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard text.count <= Self.longestText, let start = text.firstIndex(where: { !isSpace($0) }),
            let end = text.lastIndex(where: { !isSpace($0) })
        else { throw Malformed() }

        let key = withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 1) { room -> SymmetricKey? in
            defer { explicit_bzero(room.baseAddress!, room.count) }
            guard let count = Base64.decode(text[start...end], .standardMaybeUnpadded, into: room), count > 0 else {
                return nil
            }
            return SymmetricKey(data: UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        guard let key else { throw Malformed() }
        self.key = key
    }

    /// Returns the key that signs the tokens of one day.
    ///
    /// The key is HMAC-SHA256 of the eight digits. The vendor calls it `hkdfv1`, but it is not the HKDF of RFC 5869.
    func signingKey(for day: UTCDay) -> SymmetricKey {
        SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(day.digits.utf8), using: key))
    }
}
