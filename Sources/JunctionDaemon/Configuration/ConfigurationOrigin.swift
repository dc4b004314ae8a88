/// The files that the daemon read a configuration from.
package struct ConfigurationOrigin: Equatable, Sendable {
    /// The path of the configuration file, which need not exist.
    package var path: String
    /// Whether the file exists. Without it the built-in defaults apply.
    package var exists: Bool
    /// The files of the folder beside it, in order, such as `conf.d/50-health-sync.toml`.
    package var fragments: [String] = []

    /// The text after the path of the configuration file: `, with conf.d/50-health-sync.toml`, or nothing.
    var andFragments: String { fragments.isEmpty ? "" : ", with " + fragments.joined(separator: ", ") }
}
