import JunctionSession

extension RecordStore {
    /// The used bootstrap credentials that the file and this process know. Throws if the file cannot be read, because
    /// an unreadable file is not an empty one.
    var usedCredentials: UsedCredentials {
        get throws(FileFault) {
            let bytes = try files.read(.usedCredentials, atMost: UsedCredentials.largestFile)
            var used = bytes.map(UsedCredentials.init(parsing:)) ?? UsedCredentials()
            used.take(over: unwrittenStages)
            return used
        }
    }

    /// Returns the stage of the credential with this digest, or nil if it is unknown.
    func stage(of digest: String) throws(FileFault) -> UsedCredentials.Stage? {
        do throws(FileFault) {
            return try usedCredentials.stage(of: digest)
        } catch {
            // If this process knows that the credential is done, the file cannot change that.
            guard unwrittenStages.stage(of: digest) == .done else { throw error }
            return .done
        }
    }

    /// Stores the stage of a credential. If the write fails, the stage stays pending.
    mutating func note(_ stage: UsedCredentials.Stage, of digest: String) throws(FileFault) {
        unwrittenStages.note(stage, of: digest)
        try writeOwedNotes()
    }

    /// Writes the pending stages, if there are any. It never replaces a file that it could not read.
    mutating func writeOwedNotes() throws(FileFault) {
        guard !unwrittenStages.isEmpty else { return }
        let text = try usedCredentials.text
        do throws(FileFault) {
            try put(text)
        } catch {
            guard error.isOutOfSpace, removeReserve() else { throw error }
            try put(text)
        }
        unwrittenStages = UsedCredentials()
    }

    /// Writes the file, after the installation's id. A digest depends on that id, so it would be useless if a restart
    /// found another id.
    ///
    /// If the old record cannot be read, it may belong to another id. Then the id is stored only with the next record,
    /// which replaces the old one.
    private mutating func put(_ text: [UInt8]) throws(FileFault) {
        if isSound { try storeInstallation() }
        try replacement.replace(.usedCredentials, with: text)
    }
}
