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
        /// With what the last reload has changed.
        var present: Configuration
        var origin: ConfigurationOrigin
        /// Whom the access entries in force are about.
        var accounts: KnownAccounts
    }

    init(_ plan: StartPlan) {
        (source, started) = (plan.source, plan.configuration)
        (credentials, variables) = (plan.credentialsDirectory, plan.variables)
        let accounts = plan.configuration.accounts(foundFor: plan.policy.rules)
        state = Mutex(State(present: plan.configuration, origin: plan.origin, accounts: accounts))
    }

    /// The files that what is in force was read from; the path is absolute, because a client may be in another folder.
    var origin: ConfigurationOrigin {
        var origin = state.withLock { $0.origin }
        origin.path = Paths.absolute(origin.path)
        return origin
    }

    /// The configuration as it is in the file now, by the same checks as a start's.
    func sound() throws(StartFailure) -> SoundConfiguration {
        let loaded: ConfigurationSource.Loaded
        do throws(ConfigurationError) {
            loaded = try source.load()
        } catch {
            throw StartFailure(error)
        }
        let accounts = AccountDirectory.system.insisting(on: state.withLock { $0.accounts })
        return try SoundConfiguration(loaded, credentials: credentials, variables: variables, accounts: accounts)
    }

    /// A reload has taken it; whether all of it is in force now, without a restart.
    func reloaded(_ sound: SoundConfiguration) -> Bool {
        let (new, rules) = (sound.configuration, sound.rules)
        state.withLock { $0 = State(present: new, origin: sound.origin, accounts: new.accounts(foundFor: rules)) }
        return started.differsOnlyInWhatReloads(from: new)
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
        if !started.differsOnlyInWhatReloads(from: file) { return .needsRestart }
        let present = state.withLock { $0.present }
        return file.differsInWhatReloads(from: present) ? .needsReload : .inForce
    }
}

/// How the configuration's file stands to what is in force.
enum ConfigurationStanding: Equatable, Sendable {
    case inForce
    /// It has changed in what a reload takes over.
    case needsReload
    /// It has changed in what only a restart takes over.
    case needsRestart
    /// Neither would take it, and why.
    case refused(String)
}

extension Configuration {
    /// Whether a running daemon can take over every difference.
    func differsOnlyInWhatReloads(from other: Configuration) -> Bool {
        var copy = self
        (copy.access, copy.api.expose, copy.log) = (other.access, other.api.expose, other.log)
        return copy == other
    }

    fileprivate func differsInWhatReloads(from other: Configuration) -> Bool {
        (access, api.expose, log) != (other.access, other.api.expose, other.log)
    }
}
