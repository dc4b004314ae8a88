/// Why a text is not TOML, and where.
struct TomlFault: Error, Equatable {
    var line: Int
    /// What was expected, or what is twice; never a piece of the text, which may be a secret.
    var message: String
}
