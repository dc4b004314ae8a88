/// One of the daemon's options, as people write and read it.
package enum DaemonOption: CaseIterable, Sendable {
    case config, socket, stateDirectory, checkConfig

    /// What is written on the command line.
    var name: String {
        switch self {
        case .config: "--config"
        case .socket: "--socket"
        case .stateDirectory: "--state-dir"
        case .checkConfig: "--check-config"
        }
    }

    /// What its value is called; nothing where it takes none.
    var valueName: String? {
        switch self {
        case .config: "file"
        case .socket: "path"
        case .stateDirectory: "dir"
        case .checkConfig: nil
        }
    }

    /// The name, and what has to follow it.
    var form: String { valueName.map { "\(name) <\($0)>" } ?? name }

    /// What it is for.
    var summary: String {
        switch self {
        case .config:
            """
            The configuration; otherwise junctiond.toml in $CONFIGURATION_DIRECTORY, otherwise \
            /etc/junctiond/junctiond.toml. Where that file is missing the built-in defaults apply.
            """
        case .socket:
            """
            Where to listen, unless a socket was passed; otherwise $XDG_RUNTIME_DIR/junctiond/junctiond.sock, \
            otherwise /run/junctiond/junctiond.sock.
            """
        case .stateDirectory:
            """
            Where to keep the session; otherwise $STATE_DIRECTORY, otherwise $XDG_STATE_HOME/junctiond, otherwise \
            ~/.local/state/junctiond.
            """
        case .checkConfig:
            "Check the configuration and the files it names, say whether it is in order, and end."
        }
    }

    init?(named name: String) {
        guard let option = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = option
    }

    /// The option that was probably meant; nothing where none is near.
    init?(meantBy name: String) {
        let near = Self.allCases.map { (option: $0, distance: name.editDistance(to: $0.name)) }
            .filter { $0.distance <= Self.longestSlip }
            .min { $0.distance < $1.distance }
        guard let near else { return nil }
        self = near.option
    }

    /// How many letters may be wrong: with more of them, other words come as near.
    private static let longestSlip = 3
}

extension String {
    /// How many characters have to be put in, taken out or changed to make the other one of it (Levenshtein).
    func editDistance(to other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, character) in enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let changed = diagonal + (other[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(changed, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
