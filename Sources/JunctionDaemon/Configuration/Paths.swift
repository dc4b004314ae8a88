import Glibc
package import JunctionCourier

/// Where this instance reads its configuration, listens and keeps its state: a function of flags and environment.
package struct Paths: Equatable, Sendable {
    package var configuration: String
    /// Whether somebody named the file, so that it has to be there.
    package var configurationMustExist: Bool
    /// Where to listen, unless a socket was passed.
    package var socket: String
    package var stateDirectory: String
    /// Who carries to the network what is sent there.
    package var courier: CourierPlace

    /// The variables that are read here, rather than as settings.
    static let variables: Set = [
        "JUNCTIOND_CONFIG", "JUNCTIOND_SOCKET", "JUNCTIOND_STATE_DIR", "JUNCTIOND_COURIER_SOCKET",
    ]

    /// - Parameters:
    ///   - variables: the environment; an empty variable counts as absent.
    ///   - home: the home directory of the user database, for services that have no `HOME`.
    ///   - executable: the daemon's own program; the courier's is beside it.
    package init(
        _ arguments: Arguments,
        variables: [String: String],
        home: String?,
        executable: String? = nil
    ) throws(ConfigurationError) {
        func variable(_ name: String) -> String? {
            variables[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        /// The XDG rule: a path that is not absolute is not valid and is ignored.
        func folder(_ name: String) -> String? {
            variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }

        /// The service manager passes several directories as one list; the first is ours.
        func assigned(_ name: String) -> String? {
            variable(name)?.split(separator: ":").first.map(String.init)
        }

        let named = arguments.configuration ?? variable("JUNCTIOND_CONFIG")
        configuration = named ?? (assigned("CONFIGURATION_DIRECTORY") ?? "/etc/junctiond") + "/junctiond.toml"
        configurationMustExist = named != nil

        let socketFolder = folder("XDG_RUNTIME_DIR") ?? "/run"
        socket = arguments.socket ?? variable("JUNCTIOND_SOCKET") ?? socketFolder + "/junctiond/junctiond.sock"

        let ofUser =
            folder("XDG_STATE_HOME").map { $0 + "/junctiond" }
            ?? (folder("HOME") ?? home).map { $0 + "/.local/state/junctiond" }
        guard
            let state = arguments.stateDirectory ?? variable("JUNCTIOND_STATE_DIR") ?? assigned("STATE_DIRECTORY")
                ?? ofUser
        else {
            throw ConfigurationError(.nowhere, "No home directory to keep the state in: name a place with --state-dir")
        }
        stateDirectory = state

        // The service manager has one behind a socket; by hand it is a program of ours that we start.
        let folderOfPrograms = executable.map { $0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex) } ?? "/usr/bin"
        courier =
            variable("JUNCTIOND_COURIER_SOCKET").map { .socket(path: $0) }
            ?? .program(path: "\(folderOfPrograms)/junctiond-courier")
    }

    /// A path that means the same to whoever is in another folder.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    /// The configuration at this path, and what overrules it.
    package func configurationSource(variables: [String: String]) -> ConfigurationSource {
        ConfigurationSource(path: configuration, mustExist: configurationMustExist, variables: variables)
    }
}
