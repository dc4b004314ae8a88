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
    private let table: String?
    private let credentials: String?
    private let secret: @Sendable (_ path: String) -> Result<SharedSecret, UnreadableSecret>

    /// - Parameters:
    ///   - values: by key.
    ///   - table: what the configuration calls their table, for complaints.
    ///   - credentials: the service manager's folder of credentials, if there is one.
    ///   - secret: the secret that a file holds, without blanks around it.
    package init(
        _ values: [String: VendorSetting.Value],
        of table: String? = nil,
        credentials: String? = nil,
        secret: @escaping @Sendable (_ path: String) -> Result<SharedSecret, UnreadableSecret> = { _ in
            .failure(.missing)
        }
    ) {
        self.values = values
        self.table = table
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
    /// - Parameter shape: what the file has to hold.
    func secret(
        _ key: String,
        orCredential name: String,
        expecting shape: String = "the secret in one line"
    ) throws(ProviderConfigurationFault) -> SharedSecret? {
        if let file = self[key] {
            do throws(UnreadableSecret) {
                return try secret(file).get()
            } catch {
                throw ProviderConfigurationFault(
                    "\(table.map { "\($0)." } ?? "")\(key): \(file) \(error.words(expecting: shape)), or pass the service manager's credential \(name) in its "
                        + "place"
                )
            }
        }
        return credentials.flatMap { try? secret($0 + "/" + name).get() }
    }
}

/// Why a file brings no secret.
package enum UnreadableSecret: Error, Hashable, Sendable {
    case missing
    /// It is there, and not for the daemon's user.
    case forbidden
    /// It is a folder, or anything else that is no file.
    case noFile
    /// Nothing but white space.
    case empty
    /// Longer than any secret.
    case tooLong
    /// The disk says so.
    case broken(String)

    /// What is wrong with the file, and what to do, to follow its name.
    fileprivate func words(expecting shape: String) -> String {
        switch self {
        case .missing: "does not exist: create it with \(shape)"
        case .forbidden: "may not be read by the daemon's user: give it to that user"
        case .noFile: "is not a file: name one that holds \(shape)"
        case .empty: "is empty: write \(shape) into it"
        case .tooLong: "is too long for a secret: name one that holds \(shape)"
        case .broken(let reason): "cannot be read (\(reason)): name one that holds \(shape)"
        }
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
