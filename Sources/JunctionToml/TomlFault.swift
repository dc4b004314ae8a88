/// Why a text is not TOML, and where.
package struct TomlFault: Error, Equatable {
    package var line: Int
    /// What was expected, or what is twice; never a piece of the text, which may be a secret.
    package var message: String
}
