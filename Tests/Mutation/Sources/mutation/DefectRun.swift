import Foundation

/// The defects that were made by hand, one at a time, in a copy and a build of their own.
struct DefectRun {
    private static let folder = "Tests/Mutation/defects"

    private let options: Mutation
    private let workshop: Workshop

    init(_ options: Mutation) {
        self.options = options
        workshop = Workshop(root: options.root, folder: ".build-mutation/defects")
    }

    /// - Returns: whether every one was found.
    func run() async throws -> Bool {
        let defects = try all()
        // All are applied before the first is built: one that does not apply must not be found in half an hour.
        let changed = try defects.map { try $0.applied(in: workshop.root) }
        try FileManager.default.createDirectory(at: workshop.folder, withIntermediateDirectories: true)
        try await build("the sources as they are", changed: [:])
        var trial = try Trial(binary: workshop.testBinary(.debug), workshop, options)
        let original = try await trial.run(.simulation, mutant: 0)
        guard original.verdict == .survived else {
            throw Trouble("The simulation fails without any defect: \(trial.log(.simulation, mutant: 0).path)")
        }
        trial.timeouts = [.simulation: max(10, original.seconds * 10)]
        say("the simulation takes \(original.seconds) s without a defect")

        var missed = 0
        for (index, defect) in defects.enumerated() {
            try await build(defect.name, changed: changed[index])
            let outcome = try await trial.run(.simulation, mutant: index + 1)
            if !outcome.verdict.isKilled { missed += 1 }
            let found = outcome.verdict.isKilled ? "found (\(outcome.verdict.rawValue))" : "NOT FOUND"
            print("\(found)\t\(defect.name)\t\(defect.headline)\t\(outcome.test)")
        }
        print("\(defects.count - missed) of \(defects.count) defects were found.")
        return missed == 0
    }

    private func all() throws -> [Defect] {
        let files = try workshop.files(under: Self.folder).filter { file in
            file.hasSuffix(".defect") && options.only.map(file.contains) ?? true
        }
        guard !files.isEmpty else { throw Trouble("\(Self.folder) has no such .defect") }
        return try files.map { file in
            let text = try String(contentsOf: workshop.root.appending(path: file), encoding: .utf8)
            return try Defect(name: String(file.dropFirst(Self.folder.count + 1)), text: text)
        }
    }

    private func build(_ name: String, changed: [String: String]) async throws {
        say("building \(name)")
        try workshop.refresh(changed: changed)
        if let words = try await workshop.buildTests(.debug) {
            throw Trouble("\(name) does not build:\n\(words.suffix(4_000))")
        }
    }
}
