import JunctionSession

extension RecordKeeper {
    /// Which credentials were used up, as far as the disk or this process knows.
    var usedCredentials: UsedCredentials {
        let bytes = try? files.read(.usedCredentials, atMost: UsedCredentials.largestFile)
        var used = bytes.flatMap(\.self).map(UsedCredentials.init(parsing:)) ?? UsedCredentials()
        used.take(over: owed)
        return used
    }

    /// Notes how far it has come with a credential; what the disk refuses is owed to it.
    mutating func note(_ stage: UsedCredentials.Stage, of digest: String) throws(FileFault) {
        owed.note(stage, of: digest)
        try settleNotes()
    }

    /// Writes what is owed, if anything is.
    mutating func settleNotes() throws(FileFault) {
        guard !owed.isEmpty else { return }
        let text = usedCredentials.text
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
        var replacement = DurableReplacement(files)
        try replacement.replace(.usedCredentials, with: text)
    }
}
