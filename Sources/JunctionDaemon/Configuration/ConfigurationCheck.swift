/// `junctiond --check-config`: reads the configuration and says whether the daemon would start with it.
package struct ConfigurationCheck: Equatable, Sendable {
    /// One line, for standard output or, when something is wrong, standard error.
    package var verdict: String
    /// Things that are allowed and may be mistakes, one line each, for standard error.
    package var notes: [String] = []
    package var status: ExitStatus

    package init(_ arguments: Arguments, in environment: ProcessEnvironment) {
        do throws(ConfigurationError) {
            let paths = try Paths(arguments, variables: environment.variables, home: environment.home)
            let loaded = try paths.configurationSource(variables: environment.variables).load()
            verdict =
                if let file = loaded.file { "\(file): in order" } else {
                    "\(paths.configuration): not there; the built-in defaults are in order"
                }
            notes = loaded.notes
            status = .success
        } catch {
            verdict = error.description
            status = .configuration
        }
    }
}
