import JunctionServer
import JunctionVault
import Synchronization

/// The configuration that the daemon runs with, and the file that it came from, which may have changed since.
final class ConfigurationFile: Sendable {
    private let source: ConfigurationSource
    /// What the daemon was started with: what only a restart changes is compared with this.
    private let started: Configuration
    private let credentials: String?
    private let variables: [String: String]
    private let state: Mutex<State>

    private struct State {
        /// As the last reload has read it, also what waits for a restart.
        var present: Configuration
        var origin: ConfigurationOrigin
        /// Whom the access entries in force are about.
        var accounts: KnownAccounts

        init(_ validated: ValidatedConfiguration) {
            present = validated.configuration
            origin = validated.origin
            accounts = validated.configuration.accounts(foundFor: validated.rules)
        }
    }

    init(
        _ source: ConfigurationSource,
        started validated: ValidatedConfiguration,
        credentials: String?,
        variables: [String: String]
    ) {
        (self.source, started) = (source, validated.configuration)
        (self.credentials, self.variables) = (credentials, variables)
        state = Mutex(State(validated))
    }

    /// The files that what is in force was read from; the path is absolute, because a client may be in another folder.
    var origin: ConfigurationOrigin {
        var origin = state.withLock { $0.origin }
        origin.path = Paths.absolute(origin.path)
        return origin
    }

    /// The configuration as it is in the file now, by the same checks as a start's.
    func sound() throws(StartFailure) -> ValidatedConfiguration {
        let loaded: ConfigurationSource.Loaded
        do throws(ConfigurationError) {
            loaded = try source.load()
        } catch {
            throw StartFailure(error)
        }
        let accounts = AccountDirectory.system.insisting(on: state.withLock { $0.accounts })
        return try ValidatedConfiguration(loaded, credentials: credentials, variables: variables, accounts: accounts)
    }

    /// The settings that a reload has taken and that wait for a restart, by their key.
    var pendingRestart: [String] { started.settingsToRestartFor(from: state.withLock { $0.present }) }

    /// The settings of a new configuration that wait for a restart, by their key.
    func pendingRestart(with sound: ValidatedConfiguration) -> [String] {
        started.settingsToRestartFor(from: sound.configuration)
    }

    /// A reload has taken it.
    func reloaded(_ sound: ValidatedConfiguration) {
        state.withLock { $0 = State(sound) }
    }

    /// How the file stands to what is in force, by reading it once more.
    ///
    /// - Parameter session: the provider of the session that there is, if there is one.
    func standing(with session: String?) -> ConfigurationStanding {
        do throws(StartFailure) {
            let sound = try sound()
            try sound.check(mayHave: session)
            return standing(of: sound.configuration)
        } catch {
            return .refused(error.message)
        }
    }

    private func standing(of file: Configuration) -> ConfigurationStanding {
        let settings = started.settingsToRestartFor(from: file)
        if !settings.isEmpty { return .needsRestart(settings) }
        let present = state.withLock { $0.present }
        return file.differsInWhatReloads(from: present) ? .needsReload : .inForce
    }
}

/// How the configuration's file stands to what is in force.
enum ConfigurationStanding: Equatable, Sendable {
    case inForce
    /// It has changed in what a reload takes over.
    case needsReload
    /// It has changed in these settings, which only a restart takes over.
    case needsRestart([String])
    /// Neither would take it, and why.
    case refused(String)
}

extension Configuration {
    fileprivate func differsInWhatReloads(from other: Configuration) -> Bool {
        (access, api.expose, log) != (other.access, other.api.expose, other.log)
    }
}
