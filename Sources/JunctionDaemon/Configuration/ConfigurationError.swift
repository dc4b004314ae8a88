/// Why the daemon does not start with a setting: where the setting is, its key, and the expected value.
///
/// The text repeats a text value only if it resembles a possible word: a user may have put a secret in the wrong place.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// The place of a setting.
    package enum Place: Equatable, Sendable {
        case file(String, line: Int?)
        case variable(String)
        /// The setting is missing everywhere.
        case nowhere
    }

    package var place: Place
    /// The path of the key, such as `renewal.postponeFor` or `access[1].allow`.
    package var key: String?
    package var message: String

    package init(_ place: Place, key: String? = nil, _ message: String) {
        self.place = place
        self.key = key
        self.message = message
    }

    package var description: String { Self.line([place.description, key, message]) }

    /// Returns one line without control characters, even if the file's names have some.
    static func line(_ parts: [String?]) -> String {
        let line = parts.compactMap { $0 }.joined(separator: ": ")
        let isPrintable = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory != .control }
        return String(String.UnicodeScalarView(line.unicodeScalars.map { isPrintable($0) ? $0 : "\u{FFFD}" }))
    }
}

extension ConfigurationError.Place {
    var description: String? {
        switch self {
        case .file(let path, let line?): "\(path):\(line)"
        case .file(let path, nil): path
        case .variable(let name): name
        case .nowhere: nil
        }
    }
}
