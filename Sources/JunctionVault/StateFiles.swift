/// The files of the state directory, one system call each: the seam where a test breaks the disk.
package protocol StateFiles: Sendable {
    /// Where the directory is, for messages.
    var path: String { get }

    /// The names in a folder; none when there is no such folder.
    func names(in folder: StateFolder) throws(FileFault) -> [String]

    /// The whole content of a plain file, or its first `limit` bytes; nil when there is no such file.
    func read(_ file: StateFile, atMost limit: Int) throws(FileFault) -> [UInt8]?

    /// Creates a file that must not exist, readable by its owner only. The descriptor is to be closed by `close`.
    func create(_ file: StateFile) throws(FileFault) -> Int32

    /// Writes all of `bytes` into a file that was just created.
    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, of file: StateFile) throws(FileFault)

    /// Makes the content of a file that was just written survive a power cut.
    func sync(_ descriptor: Int32, of file: StateFile) throws(FileFault)

    /// Closes a file; some disks report only now that they could not write it.
    func close(_ descriptor: Int32, of file: StateFile) throws(FileFault)

    /// Gives a file another name, in place of whatever had it.
    func rename(_ file: StateFile, to name: StateFile) throws(FileFault)

    /// Gives a file a second name; fine when that name exists already.
    func link(_ file: StateFile, as name: StateFile) throws(FileFault)

    /// Removes a name; fine when it is gone already.
    func remove(_ file: StateFile) throws(FileFault)

    /// Makes the names in a folder survive a power cut.
    func sync(_ folder: StateFolder) throws(FileFault)

    /// Creates a folder that only its owner can enter; fine when it exists.
    func make(_ folder: StateFolder) throws(FileFault)

    /// Creates a file that occupies `size` bytes of the disk.
    func reserve(_ file: StateFile, size: Int64) throws(FileFault)
}

/// The two folders of the state.
package enum StateFolder: String, Sendable, CaseIterable {
    case top = "."
    case quarantine
}

/// A file of the state, by folder and name.
package struct StateFile: Hashable, Sendable {
    package let folder: StateFolder
    package let name: String

    package init(_ name: String, in folder: StateFolder = .top) {
        self.name = name
        self.folder = folder
    }

    /// The path relative to the state directory.
    package var path: String { folder == .top ? name : "\(folder.rawValue)/\(name)" }

    /// The sealed record.
    package static let live = StateFile("session.sealed")
    /// Held for life by the one daemon of this directory.
    package static let lock = StateFile("lock")
    package static let installation = StateFile("installation-id")
    /// The sealing key, where the service manager provides none.
    package static let key = StateFile("junctiond.key")
    /// The largest sequences that were used with a provider.
    package static let sequences = StateFile("sequences")
    /// Space that is given up when the disk is full, so that one more write succeeds.
    package static let reserve = StateFile("reserve")

    /// The files whose temporaries have no use once their process has ended. What was to be in them is made up for: by another
    /// try, by the provider's own verdict, by another key under which nothing was sealed yet.
    static let withoutLeftovers = [installation, key, sequences, usedCredentials]

    private static let temporaryMark = ".tmp-"

    /// A new name for the next content of this file.
    package func temporary(tag: String) -> StateFile {
        StateFile(name + Self.temporaryMark + tag, in: folder)
    }

    /// Whether `name` is that of a temporary of this file.
    package func hasTemporary(named name: String) -> Bool {
        name.hasPrefix(self.name + Self.temporaryMark)
    }
}

extension StateFiles {
    /// The full path of a file, for messages.
    package func location(of file: StateFile) -> String { "\(path)/\(file.path)" }
}
