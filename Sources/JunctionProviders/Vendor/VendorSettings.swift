package import JunctionSecret

/// A key of a vendor's table in the configuration. Secrets are in files or credentials, never here.
package struct VendorSetting: Sendable {
    /// What a key is set to.
    package enum Value: Hashable, Sendable {
        /// Everything that is one thing is kept as text.
        case text(String)
        case list([String])
    }

    package enum Kind: Sendable {
        /// Any text on one line; what it is, in words.
        case text(String)
        /// One of these words.
        case word([String])
        /// `true` or `false`.
        case flag
        case hostName
        case url
        /// A URL that is called as it is written, query and all.
        case endpoint
        /// A list of words without blanks; what they are, in words.
        case words(String)
        /// A file with a secret, and the service manager's credential that spares it.
        case secretFile(credential: String)
    }

    package var key: String
    package var kind: Kind
    /// What holds when the configuration does not say.
    package var usually: Value?

    init(_ key: String, _ kind: Kind, usually: String? = nil) {
        self.key = key
        self.kind = kind
        self.usually = usually.map { .text($0) }
    }

    /// A list, and what is in it when the configuration does not say.
    init(_ key: String, words: String, usually: [String]) {
        self.key = key
        kind = .words(words)
        self.usually = .list(usually)
    }
}

/// One vendor's settings, each of the kind that it was declared to be.
package struct VendorSettings: Sendable {
    private let values: [String: VendorSetting.Value]
    private let credentials: String?
    private let secret: @Sendable (_ path: String) -> SharedSecret?

    /// - Parameters:
    ///   - values: by key.
    ///   - credentials: the service manager's folder of credentials, if there is one.
    ///   - secret: the secret that a file holds, without blanks around it; nil when it cannot be read.
    package init(
        _ values: [String: VendorSetting.Value],
        credentials: String? = nil,
        secret: @escaping @Sendable (_ path: String) -> SharedSecret? = { _ in nil }
    ) {
        self.values = values
        self.credentials = credentials
        self.secret = secret
    }

    /// The text that a key is set to.
    subscript(key: String) -> String? { values[key]?.text }

    /// What is in the list that a key is set to; nothing when it is not set.
    func list(_ key: String) -> [String] {
        guard case .list(let words)? = values[key] else { return [] }
        return words
    }

    /// Whether a flag is set.
    func isSet(_ key: String) -> Bool { self[key] == "true" }

    /// The secret in the file that `key` names, or else in the service manager's credential; nil when there is neither.
    ///
    /// - Parameter shape: what the file has to be like.
    func secret(
        _ key: String,
        orCredential name: String,
        expecting shape: String = "one line of text"
    ) throws(ProviderConfigurationFault) -> SharedSecret? {
        if let file = self[key] {
            guard let secret = secret(file) else {
                throw ProviderConfigurationFault(
                    "\(file) cannot be read as a secret: expected \(shape) that the daemon's user may read, or the "
                        + "service manager's credential \(name) in its place"
                )
            }
            return secret
        }
        return credentials.flatMap { secret($0 + "/" + name) }
    }
}

extension VendorSetting.Value: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    package init(stringLiteral text: String) { self = .text(text) }
    package init(arrayLiteral words: String...) { self = .list(words) }

    /// Nothing for a list.
    package var text: String? {
        switch self {
        case .text(let text): text
        case .list: nil
        }
    }
}
