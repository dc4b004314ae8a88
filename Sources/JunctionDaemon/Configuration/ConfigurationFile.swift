import JunctionSecret
import JunctionServer
import JunctionVault
import Synchronization

/// The configuration that the daemon runs with. Its file may have changed since.
final class ConfigurationFile: Sendable {
    private let source: ConfigurationSource
    /// The configuration at the start. A setting that differs from it and takes effect only at a start waits for a
    /// restart.
    private let started: Content
    private let credentials: String?
    private let variables: [String: String]
    private let state: Mutex<State>

    private struct State {
        /// The configuration that the last reload read, including the settings that wait for a restart.
        var present: Content
        var origin: ConfigurationOrigin
        /// The users and groups of the access entries in force.
        var accounts: KnownAccounts

        init(_ validated: ValidatedConfiguration) {
            present = Content(validated)
            origin = validated.origin
            accounts = validated.configuration.accounts(foundFor: validated.rules)
        }
    }

    /// The settings, and the content of the secret files that they name.
    private struct Content {
        var settings: Configuration
        /// By the key of the setting that names the file.
        var secrets: [String: SharedSecret]

        init(_ validated: ValidatedConfiguration) {
            settings = validated.configuration
            secrets = validated.secrets
        }

        /// Returns the keys of the settings that differ and take effect only at a start. A secret file with another
        /// content counts, too.
        func settingsToRestartFor(from other: Content) -> [String] {
            let keys = settings.settingsToRestartFor(from: other.settings)
            let files = secrets.filter { key, secret in
                !keys.contains(key) && other.secrets[key].map { !$0.matches(secret) } ?? false
            }
            return keys + files.keys.sorted()
        }
    }

    init(
        _ source: ConfigurationSource,
        started validated: ValidatedConfiguration,
        credentials: String?,
        variables: [String: String]
    ) {
        (self.source, started) = (source, Content(validated))
        (self.credentials, self.variables) = (credentials, variables)
        state = Mutex(State(validated))
    }

    /// The files of the configuration in force. The path is absolute, because a client may be in another folder.
    var origin: ConfigurationOrigin {
        var origin = state.withLock { $0.origin }
        origin.path = Paths.absolute(origin.path)
        return origin
    }

    /// Reads the configuration from the file now, with the same checks as at a start.
    func sound() throws(StartFailure) -> ValidatedConfiguration {
        let loaded: ConfigurationSource.Loaded
        do throws(ConfigurationError) {
            loaded = try source.load()
        } catch {
            throw StartFailure(error)
        }
        let accounts = AccountDirectory.system.requiringKnown(on: state.withLock { $0.accounts })
        return try ValidatedConfiguration(loaded, credentials: credentials, variables: variables, accounts: accounts)
    }

    /// The keys of the settings that a reload has read and that wait for a restart.
    var pendingRestart: [String] { started.settingsToRestartFor(from: state.withLock { $0.present }) }

    /// Returns the keys of the settings of a new configuration that wait for a restart.
    func pendingRestart(with sound: ValidatedConfiguration) -> [String] {
        started.settingsToRestartFor(from: Content(sound))
    }

    /// Takes the configuration that a reload has put in force.
    func reloaded(_ sound: ValidatedConfiguration) {
        let next = State(sound)
        state.withLock { $0 = next }
    }

    /// Compares the file, which is read again, with the configuration in force.
    ///
    /// - Parameter session: the provider of the present session, if there is one.
    func standing(with session: String?) -> ConfigurationStanding {
        do throws(StartFailure) {
            let sound = try sound()
            try sound.check(mayHave: session)
            return standing(of: Content(sound))
        } catch {
            return .refused(error.message)
        }
    }

    private func standing(of file: Content) -> ConfigurationStanding {
        let settings = started.settingsToRestartFor(from: file)
        if !settings.isEmpty { return .needsRestart(settings) }
        let present = state.withLock { $0.present }
        return file.settings.differsInWhatReloads(from: present.settings) ? .needsReload : .inForce
    }
}

/// The relation between the configuration's file and the configuration in force.
enum ConfigurationStanding: Equatable, Sendable {
    case inForce
    /// The file has changed in settings that a reload puts in force.
    case needsReload
    /// The file has changed in these settings, which only a restart puts in force.
    case needsRestart([String])
    /// A reload and a start would both refuse the file, for this reason.
    case refused(String)
}

extension Configuration {
    fileprivate func differsInWhatReloads(from other: Configuration) -> Bool {
        (access, api.expose, log) != (other.access, other.api.expose, other.log)
    }
}
