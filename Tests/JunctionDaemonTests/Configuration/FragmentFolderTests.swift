import Foundation
import JunctionTesting
import Testing

@testable import JunctionDaemon

/// The folder `conf.d` beside the configuration file, with real files.
@Suite final class FragmentFolderTests {
    private let folder = TemporaryFolder(mode: 0o755)
    private var file: String { folder.path + "/junctiond.toml" }
    private var fragments: String { folder.path + "/conf.d" }

    init() throws {
        _ = try folder.write("", to: "junctiond.toml", mode: 0o644)
        try FileManager.default.createDirectory(atPath: fragments, withIntermediateDirectories: false)
        #expect(chmod(fragments, 0o755) == 0)
    }

    private static func entry(_ unit: String) -> String {
        "[[access]]\nallow = [\"status\"]\nunit = \"\(unit).service\"\n"
    }

    private func put(_ text: String, _ name: String) throws {
        _ = try folder.write(text, to: "conf.d/\(name)", mode: 0o644)
    }

    private func load(mustExist: Bool = true) throws(ConfigurationError) -> ConfigurationSource.Loaded {
        try ConfigurationSource(path: file, mustExist: mustExist, variables: [:]).load()
    }

    private func complaint(sourceLocation: SourceLocation = #_sourceLocation) -> String {
        let error = #expect(throws: ConfigurationError.self, sourceLocation: sourceLocation) { try load() }
        return error?.description ?? ""
    }

    @Test func `files of conf.d are read after the configuration file, in the byte order of their names`() throws {
        _ = try folder.write(Self.entry("main"), to: "junctiond.toml", mode: 0o644)
        let units = ["b": "b", "a": "a", "B": "B", "10": "10", "9": "9", "\u{E4}": "last"]
        for (name, unit) in units { try put(Self.entry(unit), "\(name).toml") }

        let loaded = try load()

        let order = ["10", "9", "B", "a", "b", "\u{E4}"]
        #expect(
            loaded.configuration.access.map(\.unit) == (["main"] + order.map { units[$0]! }).map { "\($0).service" }
        )
        #expect(loaded.origin.fragments == order.map { "conf.d/\($0).toml" })
    }

    @Test(
        arguments: [
            ".toml", ".50-app.toml", "50-app.toml~", "#50-app.toml#", "50-app.toml.dpkg-new", "50-app.toml.dpkg-dist",
            ".50-app.toml.swp", "50-app.TOML", "50-app.conf", "README", "50-app.toml.bak", "toml",
            ".\u{301}hidden.toml",
        ]
    )
    func `backup files of editors and packages are not read`(name: String) throws {
        try put("nonsense", name)

        let loaded = try load()

        #expect(loaded.configuration == Configuration())
        #expect(loaded.origin == ConfigurationOrigin(path: file, exists: true))
    }

    @Test func `the folder is read even if the configuration file is missing`() throws {
        try FileManager.default.removeItem(atPath: file)
        try put(Self.entry("a"), "a.toml")

        let loaded = try load(mustExist: false)

        #expect(loaded.configuration.access.map(\.unit) == ["a.service"])
        #expect(loaded.origin == ConfigurationOrigin(path: file, exists: false, fragments: ["conf.d/a.toml"]))
        #expect(complaint() == "\(file): cannot be read: No such file or directory")
    }

    @Test func `without the folder, or with an empty one, only the configuration file is read`() throws {
        #expect(try load().configuration == Configuration())
        try FileManager.default.removeItem(atPath: fragments)
        #expect(try load().configuration == Configuration())
    }

    @Test func `an error has the file and the line`() throws {
        try put(Self.entry("a"), "a.toml")
        try put("\n[log]\nlevel = 3", "b.toml")

        #expect(complaint().hasPrefix("\(fragments)/b.toml:3: log.level: expected one of"))
        let check = ConfigurationCheck(
            Arguments(configuration: file),
            in: ProcessEnvironment(variables: [:], processID: 1, home: "/")
        )
        #expect(check.verdict.hasPrefix("\(fragments)/b.toml:3: log.level: expected one of"))
        #expect(check.status == .configuration)
    }

    @Test(arguments: [
        // The value is wrong, the file behind the value is missing, a setting of the table is missing, the table is missing.
        ("provider = \"junction\"\n[junction]\napiUrl = \"http://a.example\"", 3, "junction.apiUrl: http://a.example"),
        ("[tls]\ncaFile = \"/nonexistent\"", 2, "tls.caFile: /nonexistent cannot be read"),
        ("provider = \"sinch\"\n[sinch]", 2, "sinch.applicationKey is missing"),
        ("\nprovider = \"oauth\"", 2, "oauth.issuer is missing"),
    ])
    func `an error behind a value has the file and the line`(text: String, line: Int, error: String) throws {
        try put(text, "a.toml")

        let check = ConfigurationCheck(
            Arguments(configuration: file),
            in: ProcessEnvironment(variables: [:], processID: 1, home: "/")
        )

        #expect(check.verdict.hasPrefix("\(fragments)/a.toml:\(line): \(error)"), "\(check.verdict)")
        #expect(check.status == .configuration)
    }

    @Test func `the check names the files that it has read`() throws {
        try put(Self.entry("a"), "a.toml")
        try put("", "b.toml")
        let environment = ProcessEnvironment(
            variables: ["CONFIGURATION_DIRECTORY": folder.path],
            processID: 1,
            home: "/"
        )

        let named = ConfigurationCheck(Arguments(configuration: file), in: environment)
        #expect(named.verdict == "\(file): in order, with conf.d/a.toml, conf.d/b.toml")
        try FileManager.default.removeItem(atPath: file)
        let absent = ConfigurationCheck(Arguments(), in: environment)
        #expect(
            absent.verdict
                == "\(file): not there; the built-in defaults are in order, with conf.d/a.toml, conf.d/b.toml"
        )
    }

    @Test func `the note about an entry for every caller names the first entry that it hides`() throws {
        _ = try folder.write("[[access]]\nallow = []", to: "junctiond.toml", mode: 0o644)
        try put(Self.entry("a"), "a.toml")
        try put("[[access]]\nallow = [\"token\"]\nuser = \"no such\"".replacing(" such", with: "-such"), "b.toml")

        let check = ConfigurationCheck(
            Arguments(configuration: file),
            in: ProcessEnvironment(variables: [:], processID: 1, home: "/")
        )

        #expect(
            check.notes == [
                "\(file):1: access[0] names no unit, user or group: it is about every caller; the entries after it are "
                    + "never used, from \(fragments)/a.toml:1: access[1] on",
                "\(fragments)/b.toml:1: access[2] matches nobody: there is no user \"no-such\" on this machine",
            ]
        )
    }

    @Test func `a link to a file is followed, and a broken link is an error`() throws {
        let target = try folder.write(Self.entry("a"), to: "elsewhere", mode: 0o644)
        #expect(symlink(target, fragments + "/a.toml") == 0)
        #expect(try load().configuration.access.map(\.unit) == ["a.service"])

        #expect(symlink("/nonexistent", fragments + "/b.toml") == 0)
        #expect(complaint() == "\(fragments)/b.toml: cannot be read: No such file or directory")
    }

    @Test func `a link to the folder is followed, and a broken link is an error`() throws {
        try put(Self.entry("a"), "a.toml")
        #expect(rename(fragments, folder.path + "/real") == 0)
        #expect(symlink("real", fragments) == 0)
        #expect(try load().configuration.access.map(\.unit) == ["a.service"])

        #expect(unlink(fragments) == 0)
        #expect(symlink("nowhere", fragments) == 0)
        #expect(complaint() == "\(fragments): cannot be read: No such file or directory")
    }

    @Test func `a pipe, a folder or a device is refused without blocking`() throws {
        #expect(mkfifo(fragments + "/pipe.toml", 0o644) == 0)
        #expect(complaint() == "\(fragments)/pipe.toml: is not a regular file")
        #expect(unlink(fragments + "/pipe.toml") == 0)

        #expect(mkdir(fragments + "/folder.toml", 0o755) == 0)
        #expect(complaint() == "\(fragments)/folder.toml: is not a regular file")
        #expect(rmdir(fragments + "/folder.toml") == 0)

        #expect(symlink("/dev/zero", fragments + "/device.toml") == 0)
        #expect(complaint() == "\(fragments)/device.toml: is not a regular file")
    }

    @Test func `a file in place of the folder is refused`() throws {
        try FileManager.default.removeItem(atPath: fragments)
        _ = try folder.write("", to: "conf.d", mode: 0o644)

        #expect(complaint() == "\(fragments): is not a folder")
    }

    @Test(arguments: [(0o755, true), (0o775, true), (0o700, true), (0o757, false), (0o1777, false)])
    func `a folder to which every user can write is refused`(mode: Int, isTaken: Bool) throws {
        try put(Self.entry("a"), "a.toml")
        #expect(chmod(fragments, mode_t(mode)) == 0)

        if isTaken {
            #expect(try load().configuration.access.count == 1)
        } else {
            #expect(complaint().hasPrefix("\(fragments): every user can write to it"))
        }
    }

    @Test(.enabled("only root can give a file away") { geteuid() == 0 })
    func `a folder of a user who could not replace the configuration file is refused`() throws {
        try put(Self.entry("a"), "a.toml")
        #expect(chown(fragments, 12_345, 0) == 0)
        #expect(complaint().hasPrefix("\(fragments): belongs to the user 12345, who could give rights"))

        // For example, root checks the configuration of another user.
        #expect(chown(folder.path, 12_345, 0) == 0)
        #expect(try load().configuration.access.count == 1)
    }

    @Test func `a folder with more than 128 files is refused`() throws {
        for number in 0..<128 { try put("", "\(number).toml") }
        #expect(try load().origin.fragments.count == 128)

        try put("", "a.toml")
        #expect(complaint() == "\(fragments): has 129 files, and at most 128 are possible")
    }

    @Test func `all files together have the size limit of one file`() throws {
        let half = "#" + String(repeating: "x", count: (1 << 19) - 1)
        _ = try folder.write(half, to: "junctiond.toml", mode: 0o644)
        try put(half, "a.toml")
        #expect(try load().origin.fragments == ["conf.d/a.toml"])

        try put("#", "b.toml")
        #expect(complaint() == "\(fragments)/b.toml: larger than 1048576 bytes together with the files before it")
        try put(half + half + "#", "b.toml")
        #expect(complaint() == "\(fragments)/b.toml: larger than 1048576 bytes: this is not a configuration file")
    }
}
