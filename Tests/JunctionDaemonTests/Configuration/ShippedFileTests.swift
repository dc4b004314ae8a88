import Foundation
import JunctionProtocol
import JunctionProviders
import JunctionToml
import Testing

@testable import JunctionDaemon

/// The shipped configuration file agrees with the code.
@Suite struct ShippedFileTests {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appending(path: "etc/junctiond/junctiond.toml"), encoding: .utf8)
    }

    @Test func `the shipped file equals the defaults`() throws {
        #expect(try settings(text) == Configuration())
    }

    @Test func `every default in the shipped file is the one in the code`() throws {
        var configuration = try settings(uncommented("#"))

        // The only default that depends on another setting.
        #expect(configuration.renewal.mode == .automatic)
        configuration.renewal.mode = nil
        #expect(configuration == Configuration())
    }

    @Test func `every example in the shipped file is valid`() throws {
        let configuration = try settings(uncommented("# e.g. "))

        #expect(configuration.providerValues["junction"]?["authUrl"] == "http://127.0.0.1:8787")
        #expect(configuration.providerValues["sinch"]?["applicationSecretFile"] == "/etc/junctiond/sinch.secret")
        #expect(configuration.providerValues["oauth"]?["tokenEndpoint"] == "https://id.example.com/token")
        #expect(configuration.tls.caFile == "/etc/junctiond/ca.pem")
    }

    @Test func `the shipped file shows exactly the known keys`() throws {
        let source = SettingsTable.Source(file: nil, variables: [:])
        _ = try Configuration(reading: SettingsTable(source))

        let shown = try SettingsFile(path: "", bytes: Array(uncommented("#", "# e.g. ").utf8))

        #expect(Set(variables(in: shown.root)) == source.understood)
    }

    @Test func `the access entries in the shipped file are valid`() throws {
        let lines = text.split(separator: "\n").filter { line in
            ["# [[access]]", "# allow = ", "# unit = ", "# user = "].contains { line.hasPrefix($0) }
        }

        let configuration = try settings(lines.map { $0.dropFirst(2) }.joined(separator: "\n"))

        #expect(
            configuration.access == [
                AccessEntry(allow: [.status, .token, .api, .handle], unit: "health-sync.service"),
                AccessEntry(allow: [.manage, .status], user: "kiosk"),
            ]
        )
    }

    /// Returns the text in which every assignment after one of these marks is active.
    private func uncommented(_ marks: String...) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            for mark in marks where line.hasPrefix(mark) {
                let rest = line.dropFirst(mark.count)
                if rest.first?.isLowercase == true, rest.contains(" = ") { return String(rest) }
            }
            return String(line)
        }.joined(separator: "\n")
    }

    private func variables(in table: [String: Setting], under path: String = "") -> [String] {
        table.flatMap { key, setting in
            if case .table(let inner) = setting.value { return variables(in: inner, under: path + key + ".") }
            return [SettingsTable.variable(for: path + key)]
        }
    }
}
