import JunctionToml

/// A configuration file, taken apart. Nothing above it knows that it is TOML.
struct SettingsFile {
    let path: String
    let root: [String: Setting]

    /// No configuration that people write comes near it; a log or a disk image given by mistake does.
    static let largest = 1 << 20

    init(path: String, bytes: [UInt8]) throws(ConfigurationError) {
        guard bytes.count <= SettingsFile.largest else {
            let message = "larger than \(SettingsFile.largest) bytes: this is not a configuration file"
            throw ConfigurationError(.file(path, line: nil), message)
        }
        do throws(TomlFault) {
            root = try TomlReader.read(bytes)
        } catch {
            throw ConfigurationError(.file(path, line: error.line), error.message)
        }
        self.path = path
    }

    /// The line of a key such as `renewal.mode`, or else of the nearest table around it.
    func line(of key: String) -> Int? {
        var line: Int?
        var table = root
        for part in key.split(separator: ".") {
            guard let setting = table[String(part)] else { break }
            line = setting.line
            guard case .table(let inner) = setting.value else { break }
            table = inner
        }
        return line
    }
}
