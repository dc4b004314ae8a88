/// A setting that the daemon will not start with: where it stands, what it is, and what was expected.
///
/// Never the value itself when it is text: somebody may have put a key where a name belongs.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// Where a setting comes from.
    package enum Place: Equatable, Sendable {
        case file(String, line: Int?)
        case variable(String)
        /// What is wrong is that nothing says it.
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

    /// One line, whatever the file had for a name.
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
