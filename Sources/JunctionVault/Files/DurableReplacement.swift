/// Replaces files of the state directory. After a crash at any moment, the file has either its old content or its new
/// content, complete.
struct DurableReplacement: Sendable {
    let files: any StateFiles
    let probe: @Sendable (VaultStep) -> Void
    /// The complete temporary files that could not be synced or renamed, by their target.
    private var leftovers: [StateFile: Leftovers] = [:]

    /// At most two temporary files for a target: the newest one that was synced, and a newer one that was not. A power
    /// cut may lose the second.
    private struct Leftovers {
        var synced: StateFile?
        var unsynced: StateFile?
    }

    /// What happens to complete new content if the sync or the rename fails.
    enum Refusal {
        /// It is removed, because its owner can make it again.
        case removes
        /// It stays beside the old file until newer content is equally durable. The next start finds it.
        case keeps
    }

    init(_ files: any StateFiles, probe: @escaping @Sendable (VaultStep) -> Void = { _ in }) {
        self.files = files
        self.probe = probe
    }

    /// Replaces the content, and returns when the new content survives a power cut. If it throws before the rename, the
    /// old content is in place. If the sync of the directory fails, the new content is in place, and a power cut may
    /// bring back the old one.
    ///
    /// - Parameters:
    ///   - refusal: what happens to the new content if this throws.
    ///   - beforeRenaming: keeps the old content elsewhere, if it may still be needed.
    mutating func replace(
        _ file: StateFile,
        with bytes: [UInt8],
        ifRefused refusal: Refusal = .removes,
        beforeRenaming: () throws(FileFault) -> Void = {}
    ) throws(FileFault) {
        // After a failed sync it is unknown what reached the disk, so each attempt takes a new file.
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
        try files.sync(.stateDirectory)
        reached(.directorySynced, of: file)
    }

    /// Takes over a complete temporary file of an earlier process. It is removed when newer content is complete. It
    /// counts as not synced, because the result of that process's sync is unknown.
    mutating func takeOver(_ temporary: StateFile, of file: StateFile) {
        leftovers[file, default: Leftovers()].unsynced = temporary
    }

    /// Records that `temporary` is the newest content of `file`, and removes the temporary files that it replaces.
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

    /// Reports the steps of the record only.
    private func reached(_ step: VaultStep, of file: StateFile) {
        if file == .record { probe(step) }
    }

    private func fill(_ temporary: StateFile, with bytes: [UInt8]) throws(FileFault) -> Int32 {
        let descriptor = try files.create(temporary)
        do throws(FileFault) {
            try bytes.withUnsafeBufferPointer { (bytes) throws(FileFault) in
                try files.write(UnsafeRawBufferPointer(bytes), to: descriptor, of: temporary)
            }
        } catch {
            // A partial record is useless, and it takes the space that the next attempt needs.
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
