import JunctionServer
import JunctionVault
import Synchronization

/// The configuration that the daemon runs with. Its file may have changed since.
final class ConfigurationFile: Sendable {
    private let source: ConfigurationSource
    /// The configuration at the start. A setting that differs from it and takes effect only at a start waits for a
    /// restart.
    private let started: ValidatedConfiguration
    /// The configuration that the last reload read, including the settings that wait for a restart.
    private let present: Mutex<ValidatedConfiguration>
    private let credentials: String?
    private let variables: [String: String]

    init(
        _ source: ConfigurationSource,
        started validated: ValidatedConfiguration,
        credentials: String?,
        variables: [String: String]
    ) {
        (self.source, started) = (source, validated)
        present = Mutex(validated)
        (self.credentials, self.variables) = (credentials, variables)
    }

    /// The files of the configuration in force. The path is absolute, because a client may be in another folder.
    var origin: ConfigurationOrigin {
        var origin = present.withLock(\.origin)
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
        let accounts = AccountDirectory.system.requiringKnown(on: present.withLock(\.accounts))
        return try ValidatedConfiguration(loaded, credentials: credentials, variables: variables, accounts: accounts)
    }

    /// The keys of the settings that a reload has read and that wait for a restart.
    var pendingRestart: [String] { started.settingsToRestartFor(from: present.withLock(\.self)) }

    /// Returns the keys of the settings of a new configuration that wait for a restart.
    func pendingRestart(with sound: ValidatedConfiguration) -> [String] {
        started.settingsToRestartFor(from: sound)
    }

    /// Takes the configuration that a reload has put in force.
    func reloaded(_ sound: ValidatedConfiguration) {
        present.withLock { $0 = sound }
    }

    /// Compares the file, which is read again, with the configuration in force.
    ///
    /// - Parameter session: the provider of the present session, if there is one.
    func standing(with session: String?) -> ConfigurationStanding {
        do throws(StartFailure) {
            let sound = try sound()
            try sound.check(mayHave: session)
            return standing(of: sound)
        } catch {
            return .refused(error.message)
        }
    }

    private func standing(of file: ValidatedConfiguration) -> ConfigurationStanding {
        let settings = started.settingsToRestartFor(from: file)
        if !settings.isEmpty { return .needsRestart(settings) }
        let inForce = present.withLock(\.configuration)
        return file.configuration.differsInWhatReloads(from: inForce) ? .needsReload : .inForce
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
