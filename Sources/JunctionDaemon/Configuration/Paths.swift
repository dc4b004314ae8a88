import Glibc
package import JunctionNetworkHelper
package import JunctionText

/// The paths of this instance's configuration, socket and state. They depend only on flags and environment.
package struct Paths: Equatable, Sendable {
    /// The name of this installation.
    package var instance: InstanceName
    package var configuration: String
    /// Whether the user named the file or the instance. Then the file has to exist, so that a misspelt name fails.
    package var configurationMustExist: Bool
    /// The path of the socket, unless the service manager passed one.
    package var socket: String
    package var stateDirectory: String
    /// How the daemon reaches the network helper.
    package var helper: HelperEndpoint

    /// The variables that choose paths and are not settings.
    static let variables: Set = [
        "JUNCTIOND_CONFIG", "JUNCTIOND_SOCKET", "JUNCTIOND_STATE_DIR", "JUNCTIOND_COURIER_SOCKET", "JUNCTIOND_INSTANCE",
    ]

    /// - Parameter environment: an empty variable counts as absent.
    package init(_ arguments: Arguments, in environment: ProcessEnvironment) throws(ConfigurationError) {
        func variable(_ name: String) -> String? {
            environment.variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        /// The XDG Base Directory Specification: ignore a path that is not absolute.
        func folder(_ name: String) -> String? {
            variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }

        /// The service manager may pass several directories as one list. The first belongs to the daemon.
        func assigned(_ name: String) -> String? {
            variable(name)?.split(separator: ":").first.map(String.init)
        }

        guard let instance = InstanceName(variable("JUNCTIOND_INSTANCE") ?? InstanceName.plain.description) else {
            throw ConfigurationError(.variable("JUNCTIOND_INSTANCE"), InstanceName.rule)
        }
        self.instance = instance

        let named = arguments.configuration ?? variable("JUNCTIOND_CONFIG")
        configuration = named ?? (assigned("CONFIGURATION_DIRECTORY") ?? "/etc/junctiond") + "/\(instance).toml"
        configurationMustExist = named != nil || instance != .plain

        let socketFolder = folder("XDG_RUNTIME_DIR") ?? "/run"
        socket = arguments.socket ?? variable("JUNCTIOND_SOCKET") ?? socketFolder + "/junctiond/\(instance).sock"

        let ofUser = (folder("XDG_STATE_HOME") ?? (folder("HOME") ?? environment.home).map { $0 + "/.local/state" })
            .map { "\($0)/junctiond\(instance.suffix)" }
        guard
            let state = arguments.stateDirectory ?? variable("JUNCTIOND_STATE_DIR") ?? assigned("STATE_DIRECTORY")
                ?? ofUser
        else {
            throw ConfigurationError(.nowhere, "No home directory to keep the state in: name a place with --state-dir")
        }
        stateDirectory = state

        // The service manager runs a network helper behind a socket. Otherwise the daemon starts the program itself,
        // which is in the folder of its own program.
        let folderOfPrograms =
            environment.executable.map { $0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex) } ?? "/usr/bin"
        helper =
            variable("JUNCTIOND_COURIER_SOCKET").map { .socket(path: $0) }
            ?? .program(path: "\(folderOfPrograms)/junctiond-courier")
    }

    /// Returns an absolute path, so that it is valid for a process in another folder.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    package func configurationSource(variables: [String: String]) -> ConfigurationSource {
        ConfigurationSource(
            path: configuration,
            mustExist: configurationMustExist,
            folder: instance.configurationFolder,
            variables: variables
        )
    }
}
