/// What the daemon says about its command line.
package enum UsageText {
    /// How it is called, in one line.
    static let synopsis =
        "\(Version.name) " + DaemonOption.allCases.map { "[\($0.form)]" }.joined(separator: " ")

    /// The whole page of `--help`.
    package static var page: String {
        let overview = [
            "OVERVIEW: Keeps one user signed in, and shares the session with every local app.",
            """
            It stays in the foreground: let the service manager put it in the background. Talk to it with junctionctl.
            """,
            """
            Every scalar key of the configuration can also be set by an environment variable, which overrules the \
            file: limits.inFlight by JUNCTIOND_LIMITS_IN_FLIGHT.
            """,
            "SIGTERM and SIGINT end it in good order; SIGHUP makes it read the configuration again.",
            """
            Exit codes: 0; 64 usage; 70 internal; 73 the socket or the state cannot be created; 75 another instance \
            owns them, or a user or group of the configuration cannot be looked up now; 78 configuration.
            """,
        ]
        let options =
            DaemonOption.allCases.map { ($0.form, $0.summary) }
            + [("--version", "Show the version."), ("-h, --help", "Show help information.")]
        // The line break at the end of a paragraph counts, as it did.
        return overview.map { ($0 + "\n").lines(of: width).joined(separator: "\n") + "\n" }.joined()
            + "USAGE: \(synopsis)\n\nOPTIONS:\n"
            + options.map(row).joined()
    }

    /// A terminal that is narrower breaks the lines itself.
    private static let width = 80
    /// Where the explanations begin.
    private static let margin = 26

    private static func row(_ name: String, _ meaning: String) -> String {
        let lines = meaning.lines(of: width - margin)
            .joined(separator: "\n" + String(repeating: " ", count: margin))
        let head = "  " + name
        return head + String(repeating: " ", count: margin - head.count) + lines + "\n"
    }
}

extension String {
    /// The text in lines that have at most so many characters, broken between words.
    fileprivate func lines(of width: Int) -> [Substring] {
        var lines: [Substring] = []
        var rest = self[...]
        while rest.count > width, let space = rest.prefix(width).lastIndex(of: " ") {
            lines.append(rest[..<space])
            rest = rest[rest.index(after: space)...]
        }
        return lines + [rest]
    }
}
