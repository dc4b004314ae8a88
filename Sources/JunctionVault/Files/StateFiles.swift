/// The files of the state directory, with one system call for each function. Tests replace it to simulate disk
/// failures.
package protocol StateFiles: Sendable {
    var path: String { get }

    /// Returns the names in a folder. The list is empty if the folder does not exist.
    func names(in folder: StateFolder) throws(FileFault) -> [String]

    /// Returns the content of a regular file, at most `limit` bytes. Returns nil if the file does not exist.
    func read(_ file: StateFile, atMost limit: Int) throws(FileFault) -> [UInt8]?

    /// Creates a file that must not exist, readable for its owner only. The caller closes the descriptor with `close`.
    func create(_ file: StateFile) throws(FileFault) -> Int32

    /// Writes all of `bytes` to a new file.
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, of file: StateFile) throws(FileFault)

    /// Makes the content of a new file survive a power cut.
    func sync(_ descriptor: Int32, of file: StateFile) throws(FileFault)

    /// Closes a file. Some file systems report a failed write only here.
    func close(_ descriptor: Int32, of file: StateFile) throws(FileFault)

    /// Renames a file, and replaces any file with the new name.
    func rename(_ file: StateFile, to name: StateFile) throws(FileFault)

    /// Gives a file a second name. Succeeds if that name exists already.
    func link(_ file: StateFile, as name: StateFile) throws(FileFault)

    /// Removes a name. Succeeds if it does not exist.
    func remove(_ file: StateFile) throws(FileFault)

    /// Makes the names in a folder survive a power cut.
    func sync(_ folder: StateFolder) throws(FileFault)

    /// Creates a folder for its owner only. Succeeds if it exists.
    func make(_ folder: StateFolder) throws(FileFault)

    /// Creates a file that occupies `size` bytes of the disk.
    func reserve(_ file: StateFile, size: Int64) throws(FileFault)
}

package enum StateFolder: String, Sendable, CaseIterable {
    case stateDirectory = "."
    case quarantine
}

/// A file of the state, with its folder and name.
package struct StateFile: Hashable, Sendable {
    package let folder: StateFolder
    package let name: String

    package init(_ name: String, in folder: StateFolder = .stateDirectory) {
        self.name = name
        self.folder = folder
    }

    /// The path relative to the state directory.
    package var path: String { folder == .stateDirectory ? name : "\(folder.rawValue)/\(name)" }

    package static let record = StateFile("session.sealed")
    /// The daemon of this directory holds a lock on it while it runs.
    package static let lock = StateFile("lock")
    package static let installation = StateFile("installation-id")
    /// The sealing key of a daemon that was started by hand or is a user's own service.
    package static let key = StateFile("junctiond.key")
    /// The largest sequences that were used with a provider, and the fact that it has noted.
    package static let sequences = StateFile("sequences")
    /// Reserved space. The daemon removes it when the disk is full, so that one more write succeeds.
    package static let reserve = StateFile("reserve")

    /// The files whose temporary files a start removes. Nothing depends on an unfinished one: the provider checks
    /// sequences itself, no record is sealed under a key before its rename, and a bootstrap credential without its line
    /// counts as untried. A temporary that alone has the installation id is kept.
    static let filesWithRemovedTemporaries = [installation, key, sequences, usedCredentials]

    private static let temporaryMark = ".tmp-"

    /// Returns a new temporary name for the next content of this file.
    package func temporary(tag: String) -> StateFile {
        StateFile(name + Self.temporaryMark + tag, in: folder)
    }

    package func hasTemporary(named name: String) -> Bool {
        name.hasPrefix(self.name + Self.temporaryMark)
    }
}

extension StateFiles {
    /// The full path of a file, for messages.
    package func location(of file: StateFile) -> String { "\(path)/\(file.path)" }
}
