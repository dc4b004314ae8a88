/// Replaces a file so that a crash at any moment leaves the old content or the new one, whole.
struct DurableReplacement: Sendable {
    let files: any StateFiles
    let probe: @Sendable (VaultStep) -> Void
    /// A temporary that was filled and could not be put in place. It may be all that the disk has of its content, so
    /// it stays until something newer is safe.
    private var abandoned: StateFile?

    init(_ files: any StateFiles, probe: @escaping @Sendable (VaultStep) -> Void = { _ in }) {
        self.files = files
        self.probe = probe
    }

    /// Returns once the new content survives a power cut. When it throws, the old content is untouched.
    ///
    /// - Parameter beforeRenaming: puts the old content aside, if anybody may miss it.
    mutating func replace(
        _ file: StateFile,
        with bytes: [UInt8],
        beforeRenaming: () throws(FileFault) -> Void = {}
    ) throws(FileFault) {
        let temporary = file.temporary(tag: Self.tag())
        let descriptor = try fill(temporary, with: bytes)
        do throws(FileFault) {
            try finish(descriptor, temporary)
        } catch {
            // After a failed sync nobody knows what reached the disk: the next attempt takes a new file.
            if abandoned == nil { abandoned = temporary } else { try? files.remove(temporary) }
            throw error
        }
        if let abandoned { try? files.remove(abandoned) }
        abandoned = temporary

        try beforeRenaming()
        try files.rename(temporary, to: file)
        abandoned = nil
        probe(.renamed)
        try files.sync(.top)
        probe(.directorySynced)
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
        probe(.temporaryWritten)
        return descriptor
    }

    private func finish(_ descriptor: Int32, _ temporary: StateFile) throws(FileFault) {
        do throws(FileFault) {
            try files.sync(descriptor, of: temporary)
        } catch {
            try? files.close(descriptor, of: temporary)
            throw error
        }
        probe(.temporarySynced)
        try files.close(descriptor, of: temporary)
    }

    private static func tag() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16)
    }
}
