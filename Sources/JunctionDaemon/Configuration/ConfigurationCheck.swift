import JunctionSystemd

/// Implements `junctiond --check-config`: reads the configuration and the files that it names, and reports whether the
/// daemon would start with it.
package struct ConfigurationCheck: Equatable, Sendable {
    /// One line, for standard output, or for standard error if the configuration is wrong.
    package var verdict: String
    /// Settings that are allowed and may be mistakes, one line each, for standard error.
    package var notes: [String] = []
    package var status: ExitStatus

    package init(_ arguments: Arguments, in environment: ProcessEnvironment) {
        do throws(StartFailure) {
            let loaded = try Self.load(arguments, environment)
            notes = try Self.notes(of: loaded, environment)
            let origin = loaded.origin
            verdict =
                "\(origin.path): " + (origin.exists ? "in order" : "not there; the built-in defaults are in order")
                + origin.andFragments
            status = .success
        } catch {
            verdict = error.message
            status = error.status
        }
    }

    /// Returns the notes of the configuration. Outside the service, a missing credential is a note and not an error,
    /// because only the service can read its credentials.
    private static func notes(
        of loaded: ConfigurationSource.Loaded,
        _ environment: ProcessEnvironment
    ) throws(StartFailure) -> [String] {
        let service = ServiceEnvironment(variables: environment.variables, processID: environment.processID)
        do throws(StartFailure) {
            return try ValidatedConfiguration(
                loaded,
                credentials: service.credentialsDirectory,
                variables: environment.variables
            ).notes
        } catch {
            guard let name = error.missingCredential, service.credentialsDirectory == nil else { throw error }
            return loaded.notes + [
                "Not checked here, because only the service has its credential \(name). By hand: \(error.message)"
            ]
        }
    }

    private static func load(
        _ arguments: Arguments,
        _ environment: ProcessEnvironment
    ) throws(StartFailure) -> ConfigurationSource.Loaded {
        do throws(ConfigurationError) {
            let paths = try Paths(arguments, in: environment)
            return try paths.configurationSource(variables: environment.variables).load()
        } catch {
            throw StartFailure(error)
        }
    }
}
