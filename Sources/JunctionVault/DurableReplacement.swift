/// Replaces files of the state directory so that a crash at any moment leaves the old content or the new one, whole.
struct DurableReplacement: Sendable {
    let files: any StateFiles
    let probe: @Sendable (VaultStep) -> Void
    /// The complete temporaries that could not be put in place, by the file that they are for.
    private var leftovers: [StateFile: Leftovers] = [:]

    /// At most two for a file: the newest one that survives a power cut, and a newer one that survives the process.
    private struct Leftovers {
        var synced: StateFile?
        var unsynced: StateFile?
    }

    /// What becomes of complete new content that the disk refuses to sync or to rename.
    enum Refusal {
        /// It is removed: its owner makes up for it.
        case removes
        /// It stays beside the old file until something newer is as safe: the next start finds it.
        case keeps
    }

    init(_ files: any StateFiles, probe: @escaping @Sendable (VaultStep) -> Void = { _ in }) {
        self.files = files
        self.probe = probe
    }

    /// Returns once the new content survives a power cut. When it throws, the old content is untouched.
    ///
    /// - Parameters:
    ///   - refusal: what becomes of the new content when this throws.
    ///   - beforeRenaming: puts the old content aside, if anybody may miss it.
    mutating func replace(
        _ file: StateFile,
        with bytes: [UInt8],
        ifRefused refusal: Refusal = .removes,
        beforeRenaming: () throws(FileFault) -> Void = {}
    ) throws(FileFault) {
        // After a failed sync it is unknown what reached the disk: each attempt takes a new file.
        let temporary = file.temporary(tag: Self.tag())
        let descriptor = try fill(temporary, with: bytes)
        reached(.temporaryWritten, of: file)
        var isSynced = false
        do throws(FileFault) {
            try finish(descriptor, temporary)
            isSynced = true
            reached(.temporarySynced, of: file)
            if refusal == .keeps { keep(temporary, of: file, isSynced: true) }
            try beforeRenaming()
            try files.rename(temporary, to: file)
        } catch {
            switch refusal {
            case .removes: try? files.remove(temporary)
            case .keeps: if !isSynced { keep(temporary, of: file, isSynced: false) }
            }
            throw error
        }
        if refusal == .keeps { leftovers[file] = nil }
        reached(.renamed, of: file)
        try files.sync(.top)
        reached(.directorySynced, of: file)
    }

    /// Takes charge of a complete temporary that an earlier process left: it goes when something newer is complete. Whether that
    /// process could sync it is not known, and cannot be found out, so it counts as not synced.
    mutating func takeOver(_ temporary: StateFile, of file: StateFile) {
        leftovers[file, default: Leftovers()].unsynced = temporary
    }

    /// Notes that `temporary` is the newest content of `file`, and removes what it makes up for.
    private mutating func keep(_ temporary: StateFile, of file: StateFile, isSynced: Bool) {
        let older = leftovers[file] ?? Leftovers()
        if let unsynced = older.unsynced { try? files.remove(unsynced) }
        guard isSynced else {
            leftovers[file] = Leftovers(synced: older.synced, unsynced: temporary)
            return
        }
        if let synced = older.synced { try? files.remove(synced) }
        leftovers[file] = Leftovers(synced: temporary)
    }

    /// Only the record's steps are of interest to anybody.
    private func reached(_ step: VaultStep, of file: StateFile) {
        if file == .live { probe(step) }
    }

    private func fill(_ temporary: StateFile, with bytes: [UInt8]) throws(FileFault) -> Int32 {
        let descriptor = try files.create(temporary)
        do throws(FileFault) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(FileFault) in
                try files.write(UnsafeRawBufferPointer(bytes), to: descriptor, of: temporary)
            }
        } catch {
            // Half a record is nothing, and it takes the space that the next attempt needs.
            try? files.close(descriptor, of: temporary)
            try? files.remove(temporary)
            throw error
        }
        return descriptor
    }

    private func finish(_ descriptor: Int32, _ temporary: StateFile) throws(FileFault) {
        do throws(FileFault) {
            try files.sync(descriptor, of: temporary)
        } catch {
            try? files.close(descriptor, of: temporary)
            throw error
        }
        try files.close(descriptor, of: temporary)
    }

    private static func tag() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
