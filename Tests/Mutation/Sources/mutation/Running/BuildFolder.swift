import Foundation

/// A copy of the sources in a scratch folder, and its builds. The project itself is only read.
struct BuildFolder {
    let root: URL
    /// The folder for all files of this run.
    let folder: URL
    let modules: String

    var copy: URL { folder.appending(path: "source") }
    var build: URL { folder.appending(path: "build") }

    init(root: String, folder: String, modules: String) {
        self.root = URL(filePath: root).standardizedFileURL
        self.folder = self.root.appending(path: folder)
        self.modules = modules
    }

    /// The tests of the modules.
    private var tests: [String] {
        modules.split(separator: ",").map { "Tests/\($0)Tests" }.filter { FileManager.default.fileExists(at: root, $0) }
    }

    // MARK: Sources

    /// Updates the copy. Unchanged files are not written, so that they are not built again.
    ///
    /// - Parameter changed: the files that differ in the copy.
    func refresh(changed: [String: [UInt8]]) throws {
        var wanted: [String: Data] = ["Package.swift": Data(try manifest().utf8)]
        for path in try ["Sources", "clients/swift/Sources"].flatMap(files) + tests.flatMap(files) {
            wanted[path] = try Data(contentsOf: root.appending(path: path))
        }
        for (path, bytes) in changed { wanted[path] = Data(bytes) }

        let present = FileManager.default.fileExists(at: copy, "") ? Set(try Self.files(under: copy, "")) : []
        for path in present.subtracting(wanted.keys) {
            try FileManager.default.removeItem(at: copy.appending(path: path))
        }
        for (path, data) in wanted { try Self.put(data, copy.appending(path: path)) }
    }

    private static func put(_ data: Data, _ file: URL) throws {
        if let present = try? Data(contentsOf: file), present == data { return }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try data.write(to: file)
    }

    /// Returns the manifest without warnings as errors, because a mutant may leave a variable unused.
    private func manifest() throws -> String {
        let text = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        return text.replacing(".treatAllWarnings(as: .error),", with: "")
            .replacing(".treatAllWarnings(as: .error)", with: "")
    }

    /// Returns the sorted files under a folder of the project, relative to its root.
    func files(under path: String) throws -> [String] {
        try Self.files(under: root, path)
    }

    private static func files(under root: URL, _ path: String) throws -> [String] {
        let start = root.appending(path: path).path
        guard let all = FileManager.default.enumerator(atPath: start) else {
            throw MutationFailure("\(start): no such folder")
        }
        var files: [String] = []
        for case let name as String in all {
            guard all.fileAttributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            files.append(path.isEmpty ? name : path + "/" + name)
        }
        return files.sorted()
    }

    // MARK: Builds

    /// Compiles a module. Returns the output of a failed build, otherwise `nil`.
    func compile(module: String) async throws -> String? {
        try await build(["--target", module])
    }

    func buildTests(_ configuration: Options.Configuration) async throws -> String? {
        switch configuration {
        case .debug:
            try await build(["--build-tests"])
        case .release:
            // Assertions are enabled, so that a mutant which violates one is found.
            try await build(
                ["--build-tests", "-c", "release", "-Xswiftc", "-enable-testing"]
                    + ["-Xswiftc", "-assert-config", "-Xswiftc", "Debug"]
            )
        }
    }

    private func build(_ arguments: [String]) async throws -> String? {
        let log = folder.appending(path: "build.log")
        let swift = ProcessInfo.processInfo.environment["SWIFT"] ?? "swift"
        let command = ["build", "--package-path", copy.path, "--scratch-path", build.path] + arguments
        let end = try await Child.run(
            ["/usr/bin/env", swift] + command,
            environment: ["JUNCTION_MODULES": modules],
            log: log,
            timeout: 3_600
        )
        return end == .exited(0) ? nil : try String(contentsOf: log, encoding: .utf8)
    }

    /// Returns the path of the test program.
    func testBinary(_ configuration: Options.Configuration) throws -> String {
        let folder = build.appending(path: configuration.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        guard let name = names.first(where: { $0.hasSuffix(".xctest") }) else {
            throw MutationFailure("\(folder.path) has no .xctest: the build made no tests")
        }
        return folder.appending(path: name).path
    }
}

extension FileManager {
    fileprivate func fileExists(at root: URL, _ path: String) -> Bool {
        fileExists(atPath: root.appending(path: path).path)
    }
}
