import Logging
import Testing

@testable import JunctionDaemon

/// The settings of the configuration file and the files of the folder beside it, merged.
@Suite struct FragmentTests {
    private static let entry = "[[access]]\nallow = [\"status\"]\n"

    /// Returns `main.toml` with the files after it, each given by its name and text.
    private func merged(_ main: String, _ fragments: [(String, String)]) throws(ConfigurationError) -> SettingsFile {
        var file = try SettingsFile(path: "main.toml", bytes: Array(main.utf8))
        for (path, text) in fragments { try file.add(SettingsFile(path: path, bytes: Array(text.utf8))) }
        return file
    }

    private func configuration(_ main: String, _ fragments: (String, String)...) throws(ConfigurationError)
        -> Configuration
    {
        let source = SettingsTable.Source(file: try merged(main, fragments), variables: [:])
        return try Configuration(reading: SettingsTable(source))
    }

    @Test func `access entries have the order of the files`() throws {
        let read = try configuration(
            "[log]\nlevel = \"debug\"\n[[access]]\nallow = []\nuser = \"guest\"",
            ("10.toml", Self.entry + "unit = \"a.service\"\n" + Self.entry + "unit = \"b.service\""),
            ("20.toml", Self.entry + "unit = \"c.service\"")
        )

        #expect(read.access.map(\.user) == ["guest", nil, nil, nil])
        #expect(read.access.map(\.unit) == [nil, "a.service", "b.service", "c.service"])
        #expect(read.log.level == .debug)
    }

    @Test(
        arguments: [
            "", "[[access]]\nallow = []\nuser = \"a\"", "access = []", "[limits]\nconnections = 7",
        ]
    )
    func `the entries of another file are added to a file with or without entries`(main: String) throws {
        let alone = try configuration(main)
        let read = try configuration(main, ("10.toml", Self.entry + "unit = \"a.service\""))

        #expect(read.access.dropLast() == alone.access[...])
        #expect(read.access.last?.unit == "a.service")
        #expect(read.limits == alone.limits)
    }

    @Test func `the settings of one table may be spread over several files`() throws {
        let read = try configuration(
            "[limits]\nconnections = 7",
            ("10.toml", "limits.inFlight = 8"),
            ("20.toml", "renewal = { postponeFor = 700 }\n[limits]\nproviderCallsPerMinute = 9")
        )

        #expect(read.limits == .init(connections: 7, inFlight: 8, providerCallsPerMinute: 9))
        #expect(read.renewal.postponeFor == .seconds(700))
    }

    @Test(
        arguments: [
            ("provider = \"oauth\"", "\nprovider = \"oauth\"", "x.toml:2: provider: set twice, first in main.toml:1"),
            (
                "\n[log]\nlevel = \"info\"", "[log]\nlevel = \"debug\"",
                "x.toml:2: log.level: set twice, first in main.toml:3"
            ),
            ("log.level = \"info\"", "log = 3", "x.toml:1: log: set twice, first in main.toml:1"),
            ("oauth.scopes = []", "oauth.scopes = []", "x.toml:1: oauth.scopes: set twice, first in main.toml:1"),
            // The error is about the first of two duplicates.
            (
                "[limits]\ninFlight = 1\nconnections = 1", "[limits]\nconnections = 1\ninFlight = 1",
                "x.toml:2: limits.connections: set twice, first in main.toml:3"
            ),
            ("", "[[access]]\nallow = [\"all\"]", "x.toml:2: access[0].allow: expected a list of"),
            (entry, "\n[[access]]\nuser = \"a\"", "x.toml:2: access[1].allow: missing; expected a list of"),
            (entry, "access = [\n1]", "x.toml:2: access: expected tables, each under [[access]], found 1"),
            (entry, "[access]", "x.toml:1: access: set twice, first in main.toml:1"),
            ("", "[access]", "x.toml:1: access: expected tables, each under [[access]], found a table"),
            (entry, entry + "unit = \"a\"", "x.toml:3: access[1].unit: expected a full unit name"),
            (entry, entry + "pid = 1", "x.toml:3: access[1].pid: unknown key"),
            ("[log]", "[log]\ncolour = 1", "x.toml:2: log.colour: unknown key"),
            ("log.level = \"info\"", "nonsense = 1", "x.toml:1: nonsense: unknown key"),
            ("", "\nlevel", "x.toml:2: expected \"=\""),
        ]
    )
    func `an error has the file and the line of the wrong setting`(main: String, added: String, complaint: String) {
        let error = #expect(throws: ConfigurationError.self) { try configuration(main, ("x.toml", added)) }

        #expect(error?.description.hasPrefix(complaint) == true, "\(error?.description ?? "")")
    }

    @Test func `the error about a duplicate names both files`() {
        let error = #expect(throws: ConfigurationError.self) {
            try configuration("", ("10.toml", "log.level = \"info\""), ("20.toml", "[log]\nlevel = \"info\""))
        }

        #expect(error?.description == "20.toml:2: log.level: set twice, first in 10.toml:1")
    }

    @Test func `the name of an entry has its file, its line and its index among all entries`() throws {
        let file = try merged(
            "\n" + Self.entry,
            [("a\u{1B}.toml", Self.entry + Self.entry), ("b.toml", "access = [{ allow = [] }]")]
        )

        #expect(
            file.accessEntries == [
                "main.toml:2: access[0]", "a\u{FFFD}.toml:1: access[1]", "a\u{FFFD}.toml:3: access[2]",
                "b.toml:1: access[3]",
            ]
        )
    }
}
