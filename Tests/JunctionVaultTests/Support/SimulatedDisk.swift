import Glibc
import JunctionVault
import Synchronization

/// A disk in memory that distinguishes current content from content that survives a power cut, and that can fail on
/// demand.
///
/// It is stricter than any real file system. A synced file has no durable name until its directory is synced. After a
/// power cut, any selection of the unsynced names may survive.
final class SimulatedDisk: StateFiles {
    let path = "/state"
    private let state: Mutex<State>

    struct State {
        var inodes: [Int: Inode] = [:]
        var names: [StateFile: Int] = [:]
        var durableNames: [StateFile: Int] = [:]
        /// Changes of names that no sync of a directory has covered, in order.
        var unsynced: [NameChange] = []
        var operations: [Operation] = []
        var fault: (@Sendable (_ index: Int, Operation) -> Int32?)?
    }

    struct Inode {
        var content: [UInt8]
        /// The content that is certainly on the disk, or nil if it was never synced.
        var durable: [UInt8]?
        /// Whether a sync of the file has failed. As on Linux, a later one succeeds and writes nothing.
        var hasFailed = false
    }

    struct NameChange {
        var removed: StateFile?
        var added: (file: StateFile, inode: Int)?

        var folders: Set<StateFolder> { Set([removed?.folder, added?.file.folder].compactMap(\.self)) }

        func apply(to names: inout [StateFile: Int]) {
            if let removed { names[removed] = nil }
            if let added { names[added.file] = added.inode }
        }
    }

    struct Operation: Equatable, CustomStringConvertible {
        var verb: String
        var subject: String
        var description: String { "\(verb) \(subject)" }
    }

    init(_ files: [StateFile: [UInt8]] = [:]) {
        var state = State()
        for (number, (file, content)) in files.enumerated() {
            state.inodes[number] = Inode(content: content, durable: content)
            state.names[file] = number
            state.durableNames[file] = number
        }
        self.state = Mutex(state)
    }

    private init(_ state: State) {
        self.state = Mutex(state)
    }

    // What tests check and break.

    /// The content of every file as a process sees it.
    var content: [StateFile: [UInt8]] {
        state.withLock { state in state.names.mapValues { state.inodes[$0]?.content ?? [] } }
    }

    var operations: [Operation] { state.withLock(\.operations) }

    func forgetOperations() { state.withLock { $0.operations = [] } }

    /// Makes some operations fail with an error. Failed operations have no effect.
    func fail(_ fault: (@Sendable (_ index: Int, Operation) -> Int32?)?) { state.withLock { $0.fault = fault } }

    /// Lets `count` more operations succeed and none after them, as if the process were killed.
    func stop(after count: Int) {
        let done = operations.count
        fail { index, _ in index >= done + count ? EIO : nil }
    }

    func put(_ bytes: [UInt8], at file: StateFile) {
        state.withLock { state in
            let inode = (state.inodes.keys.max() ?? -1) + 1
            state.inodes[inode] = Inode(content: bytes, durable: bytes)
            state.names[file] = inode
            state.durableNames[file] = inode
        }
    }

    /// Returns the disk as the next process finds it after this one was killed. No content is lost.
    func afterKill() -> SimulatedDisk {
        var state = state.withLock { $0 }
        (state.operations, state.fault) = ([], nil)
        return SimulatedDisk(state)
    }

    /// Returns every disk that a power cut at this moment may leave, each once.
    func afterPowerCut() -> [SimulatedDisk] {
        let state = state.withLock { $0 }
        var survivors: Set<[StateFile: [UInt8]]> = []
        for selection in 0..<1 << state.unsynced.count {
            var names = state.durableNames
            for (index, change) in state.unsynced.enumerated() where selection & 1 << index != 0 {
                change.apply(to: &names)
            }
            for damage in Damage.allCases {
                survivors.insert(names.compactMapValues { state.inodes[$0].map(damage.applied(to:)) })
            }
        }
        return survivors.map { SimulatedDisk($0) }
    }

    /// What may happen to content that was never synced.
    private enum Damage: CaseIterable {
        case none
        case lost
        case half
        case zeros

        func applied(to inode: Inode) -> [UInt8] {
            if inode.durable == inode.content { return inode.content }
            return switch self {
            case .none: inode.content
            case .lost: inode.durable ?? []
            case .half: Array(inode.content.prefix(inode.content.count / 2))
            case .zeros: [UInt8](repeating: 0, count: inode.content.count)
            }
        }
    }

    // The protocol `StateFiles`.

    private func perform<Answer: Sendable>(
        _ verb: String,
        _ subject: String,
        _ body: (inout State) throws(FileFault) -> Answer
    ) throws(FileFault) -> Answer {
        try state.withLock { (state) throws(FileFault) in
            let operation = Operation(verb: verb, subject: subject)
            let index = state.operations.count
            state.operations.append(operation)
            if let code = state.fault?(index, operation) {
                throw FileFault(verb, "\(path)/\(subject)", code: code)
            }
            return try body(&state)
        }
    }

    func names(in folder: StateFolder) throws(FileFault) -> [String] {
        try perform("list", folder.rawValue) { state in
            state.names.keys.filter { $0.folder == folder }.map(\.name)
        }
    }

    func read(_ file: StateFile, atMost limit: Int) throws(FileFault) -> [UInt8]? {
        try perform("read", file.path) { state in
            state.names[file].flatMap { state.inodes[$0] }.map { Array($0.content.prefix(limit)) }
        }
    }

    func create(_ file: StateFile) throws(FileFault) -> Int32 {
        try perform("create", file.path) { (state) throws(FileFault) in
            guard state.names[file] == nil else { throw FileFault("create", file.path, code: EEXIST) }
            let inode = (state.inodes.keys.max() ?? -1) + 1
            state.inodes[inode] = Inode(content: [], durable: nil)
            state.change(NameChange(added: (file, inode)))
            return Int32(inode)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, of file: StateFile) throws(FileFault) {
        let bytes = Array(bytes)
        // A write has two steps, so that a crash may happen between them.
        try perform("write", file.path) { $0.inodes[Int(descriptor)]?.content = Array(bytes.prefix(bytes.count / 2)) }
        try perform("write", file.path) { $0.inodes[Int(descriptor)]?.content = bytes }
    }

    func sync(_ descriptor: Int32, of file: StateFile) throws(FileFault) {
        do throws(FileFault) {
            try perform("sync", file.path) { $0.sync(Int(descriptor)) }
        } catch {
            state.withLock { $0.inodes[Int(descriptor)]?.hasFailed = true }
            throw error
        }
    }

    func close(_ descriptor: Int32, of file: StateFile) throws(FileFault) {
        try perform("close", file.path) { _ in }
    }

    func rename(_ file: StateFile, to name: StateFile) throws(FileFault) {
        try perform("rename", "\(file.path) \(name.path)") { (state) throws(FileFault) in
            guard let inode = state.names[file] else { throw FileFault("rename", file.path, code: ENOENT) }
            state.change(NameChange(removed: file, added: (name, inode)))
        }
    }

    func link(_ file: StateFile, as name: StateFile) throws(FileFault) {
        try perform("link", "\(file.path) \(name.path)") { (state) throws(FileFault) in
            guard let inode = state.names[file] else { throw FileFault("link", file.path, code: ENOENT) }
            if state.names[name] == nil { state.change(NameChange(added: (name, inode))) }
        }
    }

    func remove(_ file: StateFile) throws(FileFault) {
        try perform("remove", file.path) { state in
            if state.names[file] != nil { state.change(NameChange(removed: file)) }
        }
    }

    func sync(_ folder: StateFolder) throws(FileFault) {
        try perform("sync", folder.rawValue) { state in
            for change in state.unsynced where change.folders.contains(folder) {
                change.apply(to: &state.durableNames)
            }
            state.unsynced.removeAll { $0.folders.contains(folder) }
        }
    }

    func make(_ folder: StateFolder) throws(FileFault) {
        try perform("make", folder.rawValue) { _ in }
    }

    func reserve(_ file: StateFile, size: Int64) throws(FileFault) {
        let descriptor = try create(file)
        try perform("reserve", file.path) { $0.inodes[Int(descriptor)]?.content = [0] }
    }
}

extension SimulatedDisk.State {
    fileprivate mutating func change(_ change: SimulatedDisk.NameChange) {
        change.apply(to: &names)
        unsynced.append(change)
    }

    fileprivate mutating func sync(_ inode: Int) {
        guard let found = inodes[inode], !found.hasFailed else { return }
        inodes[inode]?.durable = found.content
    }
}
