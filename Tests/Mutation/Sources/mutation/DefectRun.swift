import Foundation

/// Runs the handmade defects one at a time, in a copy and a build of their own.
struct DefectRun {
    let options: Options
    let buildFolder: BuildFolder

    init(_ options: Options) {
        self.options = options
        buildFolder = BuildFolder(root: options.root, folder: ".build-mutation/defects", modules: options.modules)
    }

    /// Runs every defect.
    ///
    /// - Returns: whether the simulation found every defect.
    func run() async throws -> Bool {
        let defects = try all()
        // All defects are read and applied before the first build, so that a malformed one is reported at once.
        let changed = try defects.map { try $0.applied(in: buildFolder.root) }
        try FileManager.default.createDirectory(at: buildFolder.folder, withIntermediateDirectories: true)
        var trial = try await build("the sources as they are", changed: [:])
        let original = try await trial.run(mutant: 0)
        guard original.verdict == .survived else {
            throw MutationFailure("The tests fail without any defect: \(trial.log(.simulation, mutant: 0).path)")
        }
        say("simulation without a defect: \(inSeconds(.seconds(original.seconds)))")

        var missed = 0
        for (index, defect) in defects.enumerated() {
            trial = try await build(defect.name, changed: changed[index])
            trial.timeouts = [.simulation: options.timeout ?? max(10, original.seconds * 10)]
            let outcome = try await trial.run(mutant: index + 1)
            if !outcome.verdict.isKilled { missed += 1 }
            let found = outcome.verdict.isKilled ? "found (\(outcome.verdict.rawValue))" : "NOT FOUND"
            print("\(found)\t\(defect.name)\t\(defect.headline)\t\(outcome.test)")
        }
        print("\(defects.count - missed) of \(defects.count) defects were found.")
        return missed == 0
    }

    private func all() throws -> [Defect] {
        let folder = "Tests/Mutation/defects"
        let files = try buildFolder.files(under: folder).filter { file in
            file.hasSuffix(".defect") && options.only.map { file.contains($0) } ?? true
        }
        guard !files.isEmpty else { throw MutationFailure("\(folder) has no such .defect") }
        return try files.map { file in
            let text = try String(contentsOf: buildFolder.root.appending(path: file), encoding: .utf8)
            return try Defect(name: String(file.dropFirst(folder.count + 1)), text: text)
        }
    }

    private func build(_ name: String, changed: [String: [UInt8]]) async throws -> Trial {
        try buildFolder.refresh(changed: changed)
        let complaint = try await timed("build of \(name)") { try await buildFolder.buildTests(options.configuration) }
        if let complaint { throw MutationFailure("\(name) does not build:\n\(complaint.suffix(4_000))") }
        return try Trial(
            binary: buildFolder.testBinary(options.configuration),
            folder: buildFolder.folder.appending(path: "logs"),
            options: options
        )
    }
}
