/// Why a text is not TOML, and on which line.
package struct TomlFault: Error, Equatable {
    package var line: Int
    /// What was expected, or which name occurs twice. It never quotes a value, which may be a secret.
    package var message: String
}
