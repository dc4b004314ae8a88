package import JunctionSecret

/// A key of a provider's table in the configuration. Secrets are in files or credentials, never in the table.
package struct ProviderSetting: Sendable {
    /// The value of a key.
    package enum Value: Hashable, Sendable {
        /// Any single value, as text.
        case text(String)
        case list([String])
    }

    package enum Kind: Sendable {
        /// Any text on one line. The associated value describes it.
        case text(String)
        case word([String])
        case flag
        case hostName
        case url
        /// A URL that is used exactly as written, including the query.
        case endpoint
        /// A list of words without spaces. The associated value describes them.
        case words(String)
        /// A file with a secret. The service manager's credential can replace it.
        case secretFile(credential: String)
    }

    package var key: String
    package var kind: Kind
    /// The default value.
    package var usually: Value?

    init(_ key: String, _ kind: Kind, usually: String? = nil) {
        self.key = key
        self.kind = kind
        self.usually = usually.map { .text($0) }
    }

    /// Makes a list with default values.
    init(_ key: String, words: String, usually: [String]) {
        self.key = key
        kind = .words(words)
        self.usually = .list(usually)
    }
}

/// The settings of one provider. Each value has the declared kind.
package struct ProviderSettings: Sendable {
    private let values: [String: ProviderSetting.Value]
    private let table: String?
    private let credentials: String?
    private let secret: @Sendable (_ path: String) -> Result<SharedSecret, UnreadableSecret>

    /// - Parameters:
    ///   - values: the values by key.
    ///   - table: the name of their table in the configuration, for error messages.
    ///   - credentials: the service manager's credentials directory, if there is one.
    ///   - secret: reads the secret in a file, without surrounding white space.
    package init(
        _ values: [String: ProviderSetting.Value],
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

    subscript(key: String) -> String? { values[key]?.text }

    /// Returns the list of a key; empty if the key is not set.
    func list(_ key: String) -> [String] {
        guard case .list(let words)? = values[key] else { return [] }
        return words
    }

    func isSet(_ key: String) -> Bool { self[key] == "true" }

    /// Returns the secret in the file that `key` names, or else in the service manager's credential; `nil` if there is
    /// neither.
    ///
    /// - Parameter shape: a description of the expected content.
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

/// The reason why a file has no secret.
package enum UnreadableSecret: Error, Hashable, Sendable {
    case missing
    /// The file exists, but the daemon's user may not read it.
    case forbidden
    /// A folder or another object that is not a regular file.
    case noFile
    /// Only white space.
    case empty
    case tooLong
    /// A read error, with its reason.
    case broken(String)

    /// Returns what is wrong with the file and the next step. The text follows the name of the file.
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

extension ProviderSetting.Value: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    package init(stringLiteral text: String) { self = .text(text) }
    package init(arrayLiteral words: String...) { self = .list(words) }

    /// `nil` for a list.
    package var text: String? {
        switch self {
        case .text(let text): text
        case .list: nil
        }
    }
}
