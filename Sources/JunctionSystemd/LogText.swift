import Logging

/// The text of a log event: its message, and its values in a fixed order.
struct LogText {
    let message: String
    let values: [(key: String, value: String)]

    init(_ event: LogEvent, base: Logger.Metadata, provider: Logger.MetadataProvider?) {
        var metadata = base
        metadata.merge(provider?.get() ?? [:]) { $1 }
        metadata.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error { metadata["error"] = "\(error)" }
        message = event.message.description
        values = metadata.map { (key: $0.key, value: $0.value.description) }.sorted { $0.key < $1.key }
    }

    /// The message and its values on one line, without the id of the message: `Signed in generation=3 userId=…`.
    var line: String {
        var line = LogText.printable(message)
        for (key, value) in values where key != JournalEntry.messageIdentifierKey {
            line += " " + LogText.printable(key) + "=" + LogText.quotedIfNeeded(value)
        }
        return line
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let needsQuotes = value.isEmpty || value.utf8.contains { $0 <= 0x20 || $0 == 0x22 || $0 == 0x3D }
        guard needsQuotes else { return printable(value) }
        return "\""
            + printable(value.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\""))
            + "\""
    }

    /// Escapes characters that are not safe in a line. A value may come from outside the daemon: a line break would
    /// begin a line with a forged priority, and an escape character could control a terminal.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.breaksLines) else { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.breaksLines {
                safe.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                safe.append(scalar)
            }
        }
        return String(safe)
    }
}

extension Unicode.Scalar {
    fileprivate var breaksLines: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
