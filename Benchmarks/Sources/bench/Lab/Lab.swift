import CInstruments
import Glibc

/// The environment of the measurements: a folder, the processors, and the number of repetitions.
final class Lab {
    let options: Options
    private let onDisk: String
    private let inMemory: String
    private let group: Result<UnitGroup, any Error>
    let processors = Processors()
    /// The descriptor limit of this process and its children.
    let descriptors: Int
    /// Notes for the reader of the table.
    private(set) var notes: [String] = []
    private var startedPeers: [any Peer]?
    private var files = 0

    init(_ options: Options, onDisk: String, inMemory: String, group: Result<UnitGroup, any Error>) throws {
        self.options = options
        self.onDisk = onDisk
        self.inMemory = inMemory
        self.group = group
        if options.isPreferred { try check(instruments_prefer(), "--realtime") }
        descriptors = Int(instruments_raise_descriptor_limit())
        if descriptors < Watchers.most + 200 { note("only \(descriptors) descriptors are allowed (ulimit -Hn)") }
    }

    /// The repetitions of each measurement, which alternate with the others; the median counts.
    var rounds: Int { options.isQuick ? 1 : 5 }

    func note(_ text: String) {
        if !notes.contains(text) { notes.append(text) }
    }

    /// The result, or nil and a note with the reason.
    func attempt<Result>(_ what: String, _ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            note("\(what): \(error)")
            return nil
        }
    }

    /// Returns an unused path.
    func path(_ name: String, inMemory isInMemory: Bool = false) -> String {
        files += 1
        return "\(isInMemory ? inMemory : onDisk)/\(files)-\(name)"
    }

    func folder(_ name: String, inMemory: Bool = false) throws -> String {
        let path = path(name, inMemory: inMemory)
        guard mkdir(path, 0o700) == 0 else { throw Trouble("\(path): \(String(cString: strerror(errno)))") }
        return path
    }

    /// Allows processes without root's rights to connect to a socket in the folder.
    func letOthersConnect(to socket: String) throws {
        for (path, mode) in [(onDisk, 0o711), (socket, 0o666)] where chmod(path, mode_t(mode)) != 0 {
            throw Trouble("\(path): \(String(cString: strerror(errno)))")
        }
    }

    func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Trouble("\(path): \(String(cString: strerror(errno)))") }
        fputs(text, file)
        fclose(file)
    }

    /// Returns the path of a program of this project: the one from the options, or that of `make release` or a plain
    /// build.
    func program(_ name: String) throws -> String {
        if let named = options.programs[name] {
            guard access(named, X_OK) == 0 else { throw Trouble("there is no program \(named)") }
            return named
        }
        let folders = [".build-release/release", ".build/release"].map { Lab.projectRoot + $0 }
        guard let folder = folders.first(where: { access("\($0)/\(name)", X_OK) == 0 }) else {
            throw Trouble("not built; run make release, or pass its path")
        }
        return "\(folder)/\(name)"
    }

    /// The installed peers, each started once; a note names the missing ones.
    func peers() -> [any Peer] {
        if let startedPeers { return startedPeers }
        let kinds: [any Peer.Type] = [SshAgent.self, GpgAgent.self, OidcAgent.self]
        let peers: [any Peer] = kinds.compactMap { kind in
            attempt("\(kind.name) is left out") {
                for program in kind.programs where Command.find(program) == nil {
                    throw Trouble("\(program) is not installed (Debian: \(kind.package))")
                }
                return try kind.init(self)
            }
        }
        startedPeers = peers
        return peers
    }

    /// The control group of a unit; `nil` and a note if none can be created.
    func unitGroup() -> UnitGroup? {
        attempt(UnitGroup.isLeftOut) { try group.get() }
    }

    /// A daemon without a session; `nil` and a note if the program is missing.
    func freshDaemon() -> Junctiond? {
        attempt("junctiond") { try Junctiond(self, sandbox: nil) }
    }

    /// A signed-in daemon with its own cloud; `nil` and a note if a program is missing.
    func signedInDaemon(
        tls: Bool = false,
        stateInMemory: Bool = false,
        admitting group: UnitGroup? = nil
    ) -> Junctiond? {
        attempt("junctiond") {
            let sandbox = try Sandbox(self, certificates: tls ? try Certificates(self) : nil)
            let daemon = try Junctiond(self, sandbox: sandbox, stateInMemory: stateInMemory, admitting: group)
            try daemon.signIn()
            return daemon
        }
    }

    static let projectRoot = #filePath.components(before: "Benchmarks/Sources")
    static let supportFolder = projectRoot + "Benchmarks/Support/"
}

extension String {
    fileprivate func components(before mark: String) -> String {
        firstRange(of: mark).map { String(self[..<$0.lowerBound]) } ?? "./"
    }
}
