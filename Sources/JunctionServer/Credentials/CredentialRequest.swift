import JunctionText

/// What the service manager asks for when it loads a credential of a unit (`LoadCredential=NAME:SOCKET`,
/// systemd.exec(5)).
///
/// The service manager sends no data. The request is the abstract address that its end of the connection is bound to:
/// `\0RANDOM/unit/UNIT/NAME`.
struct CredentialRequest: Equatable {
    let unit: String
    /// The name of the credential. The unit chooses it, so the daemon may not have such a credential.
    let name: String

    /// Returns nil unless the address has exactly the form that systemd writes.
    ///
    /// - Parameter address: the bytes of the address after its family.
    init?(address: [UInt8]) {
        guard address.first == 0, address.count <= UnixAddress.longestPath else { return nil }
        let parts = address.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 4, Self.isRandomNumber(parts[0]), parts[1].elementsEqual("unit".utf8),
            Self.isUnitName(parts[2]), Self.isCredentialName(parts[3])
        else { return nil }
        unit = String(decoding: parts[2], as: UTF8.self)
        name = String(decoding: parts[3], as: UTF8.self)
    }

    /// systemd writes 64 random bits in hexadecimal digits, without leading zeros (`%PRIx64`).
    private static func isRandomNumber(_ text: ArraySlice<UInt8>) -> Bool {
        (1...16).contains(text.count)
            && text.allSatisfy(Hexadecimal.isLowerCaseDigit) && (text.count == 1 || text.first != UInt8(ascii: "0"))
    }

    /// The types of units that run programs, and so have credentials.
    private static let unitTypes = [".service", ".socket", ".mount", ".swap"]

    /// Whether this is the name of a unit that can run. A template, such as `a@.service`, cannot.
    private static func isUnitName(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.allSatisfy({ $0.isASCIILetterOrDigit || ":-_.\\@".utf8.contains($0) }),
            let type = unitTypes.first(where: { text.suffix($0.utf8.count).elementsEqual($0.utf8) })
        else { return false }
        let stem = text.dropLast(type.utf8.count)
        guard let at = stem.firstIndex(of: UInt8(ascii: "@")) else { return !stem.isEmpty }
        return at > stem.startIndex && at + 1 < stem.endIndex
    }

    private static func isCredentialName(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCIILetterOrDigit || "-_.".utf8.contains($0) }
    }
}
