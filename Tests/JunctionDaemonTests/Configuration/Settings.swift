import Testing

@testable import JunctionDaemon

/// Reads a configuration from text, without the checks that look files and accounts up.
func settings(_ toml: String, variables: [String: String] = [:]) throws(ConfigurationError) -> Configuration {
    try settings(Array(toml.utf8), variables: variables)
}

func settings(_ bytes: [UInt8], variables: [String: String] = [:]) throws(ConfigurationError) -> Configuration {
    let file = try SettingsFile(path: "junctiond.toml", bytes: bytes)
    return try Configuration(reading: SettingsTable(SettingsTable.Source(file: file, variables: variables)))
}

/// Returns the error about a wrong configuration.
func complaint(
    _ toml: String,
    variables: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) -> String? {
    let error = #expect(throws: ConfigurationError.self, sourceLocation: sourceLocation) {
        try settings(toml, variables: variables)
    }
    return error?.description
}
