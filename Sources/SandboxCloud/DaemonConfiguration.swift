import JunctionText

/// The configuration that makes a daemon use the sandbox, as a file or as environment variables.
package struct DaemonConfiguration: Sendable {
    enum Value: Sendable {
        case text(String)
        case list([String])
    }

    let provider: VendorName
    /// One line about another step that the user has to take, if there is one.
    var remark: String?
    /// The settings of the provider's section.
    let settings: KeyValuePairs<String, Value>

    package var toml: String {
        let lines = settings.map { key, value in
            switch value {
            case .text(let text): "\(key) = \(Self.quoted(text))"
            case .list(let texts): "\(key) = [\(texts.map(Self.quoted).joined(separator: ", "))]"
            }
        }
        let head = ["provider = \(Self.quoted(provider.rawValue))", "[\(provider.rawValue)]"]
        return ((remark.map { ["# \($0)"] } ?? []) + head + lines).joined(separator: "\n") + "\n"
    }

    /// The environment variables, as `export` commands of a shell.
    package var exports: [String] {
        let own = settings.map { key, value in
            let text =
                switch value {
                case .text(let text): text
                case .list(let texts): texts.joined(separator: " ")
                }
            let name = "JUNCTIOND_\(provider.rawValue.uppercased())_\(Self.upperCase(key))"
            return "export \(name)=\(ShellText.quoted(text))"
        }
        return ["export JUNCTIOND_PROVIDER=\(provider.rawValue)"] + own
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Converts `authUrl` to `AUTH_URL`.
    private static func upperCase(_ key: String) -> String {
        key.reduce(into: "") { $0 += $1.isUppercase ? "_\($1)" : $1.uppercased() }
    }
}

package enum ShellText {
    /// Returns the text as one shell word without expansions.
    package static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_@%+=:,./-".utf8.contains($0) }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
