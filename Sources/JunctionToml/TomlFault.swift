/// Why a text is not TOML, and on which line.
package struct TomlFault: Error, Equatable {
    package var line: Int
    /// The expected syntax, or the name that occurs twice. It never quotes a value, which may be a secret.
    package var message: String
}
