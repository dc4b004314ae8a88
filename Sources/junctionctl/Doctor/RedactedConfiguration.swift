/// The configuration as it may be shown: the settings that there are, without comments and without what could be a secret.
///
/// It has no setting for a secret itself, but a file that is refused may have one all the same; so only what is known is shown.
struct RedactedConfiguration {
    private static let tables: Set<String> = [
        "junction", "social", "sinch", "oauth", "tls", "network", "renewal", "api", "limits", "access", "log",
    ]

    /// Every setting of etc/junctiond/junctiond.toml; a test holds the two together.
    static let settings: Set<String> = [
        "provider", "authUrl", "apiUrl", "apiKeyInProduction", "region", "apiKeyFile", "applicationKey",
        "environmentHost",
        "registrationUrl", "applicationSecretFile", "issuer", "clientId", "clientAuthentication", "clientSecretFile",
        "clientKeyFile", "assertionAudience", "scopes", "audience", "resource", "identity", "tokenEndpoint",
        "deviceAuthorizationEndpoint", "revocationEndpoint", "userinfoEndpoint", "authorizationEndpoint", "caFile",
        "proxy",
        "noProxy", "resolveTimeout", "connectTimeout", "requestTimeout", "clientCertificateFile", "mode",
        "handlerTimeout",
        "postponeFor", "expose", "socket", "connections", "inFlight", "providerCallsPerMinute", "allow", "unit", "user",
        "group", "level",
    ]

    var text: String

    init(_ original: String, _ redaction: Redaction = Redaction()) {
        var lines: [String] = []
        var end: String?
        for line in original.split(separator: "\n", omittingEmptySubsequences: false).map(\.trimmed) {
            if let mark = end {
                // The rest of a value of several lines.
                if line.range(of: mark) != nil { end = nil }
                continue
            }
            let (shown, unfinished) = Self.shown(line, redaction)
            end = unfinished
            if let shown { lines.append(shown) }
        }
        text = lines.joined(separator: "\n")
    }

    /// A line as it may be shown, and what ends its value where that goes on.
    private static func shown(_ line: Substring, _ redaction: Redaction) -> (String?, unfinished: String?) {
        if line.isEmpty || line.hasPrefix("#") { return (nil, nil) }
        if line.hasPrefix("[") {
            let name = line.prefix { $0 != "#" }.filter { !"[] \t\"'".contains($0) }
            return (
                tables.contains(name) ? line.hasPrefix("[[") ? "[[\(name)]]" : "[\(name)]" : "[\(Redaction.mark)]", nil
            )
        }
        guard let mark = line.firstIndex(of: "=") else { return ("(a line that is no setting)", nil) }
        let name = String(line[..<mark].trimmed)
        let value = line[line.index(after: mark)...].trimmed
        for quotes in ["\"\"\"", "'''"] where value.hasPrefix(quotes) {
            let isComplete = value.dropFirst(3).range(of: quotes) != nil
            return ("\(settings.contains(name) ? name : Redaction.mark) = \(Redaction.mark)", isComplete ? nil : quotes)
        }
        let isUnfinishedList = value.hasPrefix("[") && value.firstIndex(of: "]") == nil
        let isKnown = settings.contains(name) && !isUnfinishedList
        let label = settings.contains(name) ? name : Redaction.mark
        return (
            "\(label) = \(isKnown ? Self.value(value, of: name, redaction) : Redaction.mark)",
            isUnfinishedList ? "]" : nil
        )
    }

    private static func value(_ value: Substring, of name: String, _ redaction: Redaction) -> String {
        let plain = withoutComment(value)
        // A secret in the place of the name of a file that holds it is an easy mistake.
        if name.hasSuffix("File"), !plain.dropFirst().hasPrefix("/") { return Redaction.mark }
        return redaction.of(plain)
    }

    /// What stands before a `#` that is outside quotes.
    private static func withoutComment(_ value: Substring) -> String {
        var quote: Character?
        var isEscaped = false
        for index in value.indices {
            let character = value[index]
            if isEscaped {
                isEscaped = false
            } else if let open = quote {
                if character == "\\", open == "\"" { isEscaped = true }
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == "#" {
                return String(value[..<index].trimmed)
            }
        }
        return String(value)
    }
}
