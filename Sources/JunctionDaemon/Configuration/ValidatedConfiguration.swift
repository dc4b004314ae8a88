import JunctionProviders
import JunctionSecret
import JunctionServer
import Synchronization

/// A configuration that the daemon can run with. The accounts and files that it names have been looked up, opened and
/// read.
///
/// A start, `--check-config` and a reload make the same checks, so all of them accept and refuse the same
/// configurations.
struct ValidatedConfiguration {
    let configuration: Configuration
    let definition: any ProviderDefinition
    let network: NetworkSettingsSource
    let rules: [AccessRule]
    /// Settings that are allowed and may be mistakes, one line each.
    let notes: [String]
    /// The access entries that match no caller, one line each. `notes` contains them, too.
    let accessNotes: [String]
    /// The files with secrets that the provider reads.
    let secretFiles: [SecretFile]
    /// The content of these files, by the key of the setting.
    let secrets: [String: SharedSecret]
    let origin: ConfigurationOrigin

    /// - Parameters:
    ///   - credentials: the folder of the service manager's credentials.
    ///   - variables: the environment, which may name a proxy.
    init(
        _ loaded: ConfigurationSource.Loaded,
        credentials: String?,
        variables: [String: String],
        accounts: AccountDirectory = .system
    ) throws(StartFailure) {
        configuration = loaded.configuration
        origin = loaded.origin
        let secretReader = SecretReader()
        let definition = Self.definition(of: configuration, credentials: credentials, reading: secretReader)
            .mapError { $0.placed(by: loaded.places, or: "provider") }
        let network = Result { [configuration] () throws(StartFailure) in
            try configuration.networkSettings(credentials: credentials, variables: variables)
        }.mapError { $0.placed(by: loaded.places) }
        for failure in [definition.failure, network.failure] {
            if let failure, failure.missingCredential == nil { throw failure }
        }
        do throws(UndecidedAccess) {
            (rules, accessNotes) = try configuration.accessRules(by: accounts, naming: loaded.accessEntries)
        } catch {
            throw StartFailure(error)
        }
        // These come last: outside the service, where credentials are missing, everything else has been checked.
        (self.definition, self.network) = (try definition.get(), try network.get())
        secretFiles = SecretFile.all(in: configuration)
        secrets = secretReader.secrets(in: secretFiles)
        notes = loaded.notes + accessNotes + secretFiles.compactMap(\.note)
    }

    /// Throws if the session belongs to another provider. A start checks the stored session, a reload the present one.
    ///
    /// - Parameter session: the provider of the session, if there is one.
    func check(mayHave session: String?) throws(StartFailure) {
        let provider = configuration.provider.rawValue
        guard let session, session != provider else { return }
        throw StartFailure(
            .configuration,
            "The stored session or sign-in belongs to provider \"\(session)\", and the configuration says \"\(provider)\": sign out "
                + "with the old configuration first, or set provider back"
        )
    }

    /// The users and groups that the access entries name and that were found.
    var accounts: KnownAccounts { configuration.accounts(foundFor: rules) }

    /// Returns the keys of the settings that differ and take effect only at a start. A secret file with another content
    /// counts, too.
    func settingsToRestartFor(from other: ValidatedConfiguration) -> [String] {
        let keys = configuration.settingsToRestartFor(from: other.configuration)
        let files = secrets.filter { key, secret in
            !keys.contains(key) && other.secrets[key].map { !$0.matches(secret) } ?? false
        }
        return keys + files.keys.sorted()
    }

    /// Checks all settings of the provider before the start changes anything.
    private static func definition(
        of configuration: Configuration,
        credentials: String?,
        reading secretReader: SecretReader
    ) -> Result<any ProviderDefinition, StartFailure> {
        let name = configuration.provider
        let values = configuration.providerValues[name.rawValue] ?? [:]
        do throws(ProviderConfigurationFault) {
            let settings = ProviderSettings(
                values,
                of: name.rawValue,
                credentials: credentials,
                secret: { secretReader.read($0) }
            )
            return .success(try name.definition.init(settings))
        } catch {
            return .failure(StartFailure(error))
        }
    }
}

/// Reads secret files, and keeps what it has read, so that each file is read once.
private final class SecretReader: Sendable {
    private let read = Mutex<[String: SharedSecret]>([:])

    func read(_ path: String) -> Result<SharedSecret, UnreadableSecret> {
        let result = SmallFile.readableSecret(at: path)
        if case .success(let secret) = result { read.withLock { $0[path] = secret } }
        return result
    }

    func secrets(in files: [SecretFile]) -> [String: SharedSecret] {
        read.withLock { read in
            files.reduce(into: [:]) { secrets, file in secrets[file.setting] = read[file.path] }
        }
    }
}

extension StartFailure {
    /// Adds the place of the setting whose key begins the message. If that setting is missing, the place is its table.
    /// If the table is missing, too, the place is the setting `reason`, which needs the table.
    fileprivate func placed(by places: [String: ConfigurationError.Place], or reason: String? = nil) -> StartFailure {
        let key = String(message.prefix { $0.isLetter || $0.isNumber || $0 == "." })
        let table = String(key.prefix { $0 != "." })
        guard let place = (places[key] ?? places[table] ?? reason.flatMap { places[$0] })?.description else {
            return self
        }
        var failure = self
        failure.message = "\(place): \(message)"
        return failure
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
