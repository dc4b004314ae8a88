import JunctionProviders
import JunctionServer
import JunctionVault

/// Why the daemon cannot start: one line for a person, and the exit status for a script.
struct StartFailure: Error, Equatable {
    var status: ExitStatus
    var message: String
    /// The service manager's credential that would solve the problem.
    var missingCredential: String?

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ fault: ProviderConfigurationFault) {
        self.init(.configuration, fault.message)
        missingCredential = fault.missingCredential
    }

    init(_ error: ConfigurationError) {
        self.init(.configuration, error.description)
    }

    /// The configuration is not wrong: the service manager tries again.
    init(_ undecided: UndecidedAccess) {
        self.init(.temporary, undecided.description)
    }

    init(_ failure: SystemFailure) {
        self.init(.internal, failure.description)
    }

    init(_ refusal: VaultRefusal) {
        self.init(.cannotCreate, refusal.message)
    }

    init(_ refusal: InstanceLock.Refusal) {
        switch refusal {
        case .held: self.init(.temporary, refusal.description)
        case .fault: self.init(.cannotCreate, refusal.description)
        }
    }

    init(_ fault: SocketFault) {
        switch fault {
        case .servedByAnother: self.init(.temporary, fault.description)
        default: self.init(.cannotCreate, fault.description)
        }
    }
}
