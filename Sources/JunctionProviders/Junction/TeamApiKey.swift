import JunctionSecret
import JunctionSession
import JunctionText

/// A team's API key and its site: Junction's scheme for evaluation.
struct TeamApiKey: Sendable {
    var site: JunctionSite
    /// The user of the calls. Without a user the key only configures the installation.
    var userId: String?

    /// Reads the members of the credential.
    ///
    /// - Parameter configured: the site of an already configured key. Such a key may be omitted from the credential.
    init(
        key: SharedSecret?,
        userId: String?,
        environment: String?,
        region: String?,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) {
        let known = try Self.site(of: key, configured)
        guard let environmentName = environment ?? known?.environment.rawValue else {
            throw .incomplete("The API key does not tell its environment: add production, sandbox or dev")
        }
        guard let regionName = region ?? known?.region.rawValue else {
            throw .incomplete("The API key does not tell its region: add us or eu")
        }
        self.site = try Self.site(environmentName.lowercased(), regionName.lowercased())
        self.userId = userId?.lowercased()

        if let userId, !Self.isUUID(userId) {
            throw .misdescribed("The user id must be a UUID: Junction's own, not the one of your backend")
        }
        // No key prefix is documented for dev, so every key is accepted there.
        let isOpen = key != nil && site.environment == .dev
        if let known, known.region != site.region || (known.environment != site.environment && !isOpen) {
            throw .misdescribed(
                "The API key is for \(known.environment.rawValue) in \(known.region.rawValue), and the sign-in names another "
                    + "environment or region: leave them out"
            )
        }
    }

    /// Returns the site of the key or of the configured key, if it is known.
    private static func site(
        of key: SharedSecret?,
        _ configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> JunctionSite? {
        if let key { return try site(impliedBy: key) }
        guard let configured else { throw .incomplete("An API key is needed: none is configured") }
        return try site(configured.environment, configured.region)
    }

    private static func site(_ environment: String, _ region: String) throws(CredentialRefused) -> JunctionSite {
        guard let environment = JunctionSite.Environment(spelled: environment) else {
            throw .misdescribed("The environment must be production, sandbox or dev")
        }
        guard let region = JunctionSite.Region(rawValue: region) else {
            throw .misdescribed("The region must be us or eu")
        }
        return JunctionSite(environment, region)
    }

    /// Returns the site that a documented prefix names: `pk_` is production, `sk_` is sandbox.
    private static func site(impliedBy key: SharedSecret) throws(CredentialRefused) -> JunctionSite? {
        try key.withUnsafeBytes { (bytes) throws(CredentialRefused) in
            // The key becomes the value of a header, where a line break would begin another header.
            guard (1...4_096).contains(bytes.count), bytes.allSatisfy(\.isVisibleASCII) else {
                throw .malformed("An API key has printable ASCII characters only, without spaces or line breaks")
            }
            return switch String(decoding: bytes.prefix(6), as: UTF8.self) {
            case "pk_us_": JunctionSite(.production, .us)
            case "pk_eu_": JunctionSite(.production, .eu)
            case "sk_us_": JunctionSite(.sandbox, .us)
            case "sk_eu_": JunctionSite(.sandbox, .eu)
            default: nil
            }
        }
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}
