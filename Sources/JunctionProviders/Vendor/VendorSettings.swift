package import JunctionSecret

/// A key of a vendor's table in the configuration. Every value is kept as text; secrets are in files or credentials, never here.
package struct VendorSetting: Sendable {
    package enum Kind: Sendable {
        /// Any text on one line; what it is, in words.
        case text(String)
        /// One of these words.
        case word([String])
        /// `true` or `false`.
        case flag
        case hostName
        case url
        /// A file with a secret, and the service manager's credential that spares it.
        case secretFile(credential: String)
    }

    package var key: String
    package var kind: Kind
    /// What holds when the configuration does not say.
    package var usually: String?

    init(_ key: String, _ kind: Kind, usually: String? = nil) {
        self.key = key
        self.kind = kind
        self.usually = usually
    }
}

/// One vendor's settings, each of the kind that it was declared to be.
package struct VendorSettings: Sendable {
    private let values: [String: String]
    private let credentials: String?
    private let secret: @Sendable (_ path: String) -> SharedSecret?

    /// - Parameters:
    ///   - values: by key.
    ///   - credentials: the service manager's folder of credentials, if there is one.
    ///   - secret: the secret that is a file's one line; nil when it cannot be read.
    package init(
        _ values: [String: String],
        credentials: String? = nil,
        secret: @escaping @Sendable (_ path: String) -> SharedSecret? = { _ in nil }
    ) {
        self.values = values
        self.credentials = credentials
        self.secret = secret
    }

    subscript(key: String) -> String? { values[key] }

    /// Whether a flag is set.
    func isSet(_ key: String) -> Bool { values[key] == "true" }

    /// The secret in the file that `key` names, or else in the service manager's credential; nil when there is neither.
    func secret(_ key: String, orCredential name: String) throws(ProviderConfigurationFault) -> SharedSecret? {
        if let file = values[key] {
            guard let secret = secret(file) else {
                throw ProviderConfigurationFault(
                    "\(file) cannot be read as a secret: expected one line of text that the daemon's user may read, or the "
                        + "service manager's credential \(name) in its place"
                )
            }
            return secret
        }
        return credentials.flatMap { secret($0 + "/" + name) }
    }
}
