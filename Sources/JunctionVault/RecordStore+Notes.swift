import JunctionSession

extension RecordStore {
    /// Which bootstrap credentials were used up, as far as the disk and this process know. A file that cannot be read says nothing; that
    /// is not the same as a file that has nothing to say.
    var usedCredentials: UsedCredentials {
        get throws(FileFault) {
            let bytes = try files.read(.usedCredentials, atMost: UsedCredentials.largestFile)
            var used = bytes.map(UsedCredentials.init(parsing:)) ?? UsedCredentials()
            used.take(over: owed)
            return used
        }
    }

    /// How far it has come with the credential of this digest; nil when it was never seen.
    func stage(of digest: String) throws(FileFault) -> UsedCredentials.Stage? {
        do throws(FileFault) {
            return try usedCredentials.stage(of: digest)
        } catch {
            // What this process knows to be over is over, whatever the file says.
            guard owed.stage(of: digest) == .done else { throw error }
            return .done
        }
    }

    /// Notes how far it has come with a credential; what the disk refuses is owed to it.
    mutating func note(_ stage: UsedCredentials.Stage, of digest: String) throws(FileFault) {
        owed.note(stage, of: digest)
        try settleNotes()
    }

    /// Writes what is owed, if anything is; never over what could not be read.
    mutating func settleNotes() throws(FileFault) {
        guard !owed.isEmpty else { return }
        let text = try usedCredentials.text
        do throws(FileFault) {
            try put(text)
        } catch {
            guard error.isOutOfSpace, giveUpReserve() else { throw error }
            try put(text)
        }
        owed = UsedCredentials()
    }

    /// A digest is bound to the installation's id, and worth nothing when that is another one after a restart.
    ///
    /// Where the old record cannot be read it may be of another id than this one, and it is only replaced by the record
    /// that ends it: the id is stored with that.
    private mutating func put(_ text: [UInt8]) throws(FileFault) {
        if isSound { try storeInstallation() }
        try replacement.replace(.usedCredentials, with: text)
    }
}
