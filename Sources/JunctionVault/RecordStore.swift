import JunctionSession

/// Finds the record at start and replaces it ever after. It does one thing at a time; the vault sees to that.
struct RecordStore: Sendable {
    let files: any StateFiles
    let sealing: Sealing
    var replacement: DurableReplacement

    /// Known once the record was looked for.
    var installation: InstallationId?
    /// Why nothing may be written: what is there must not be touched.
    var refusal: String?
    /// The record that is on disk, without its secrets.
    var present: SessionRecord?
    /// The quarantine name of the record file, if it has to be kept when it is replaced.
    var predecessor: String?
    /// What was decided at start and could not be carried out yet.
    var unfinished: [Election.Move] = []
    /// What to do after the sign-in that settles a doubtful state.
    var settlement: [Election.Move] = []
    /// Names in quarantine that are no longer reported.
    var settled: Set<String> = []
    var hasReserve = false
    /// What was found is understood: nothing of it may turn out to be another installation's.
    var isSound = false
    /// What is to be noted of the bootstrap credentials, and the disk has refused.
    var owed = UsedCredentials()

    init(_ files: any StateFiles, _ sealing: Sealing, probe: @escaping @Sendable (VaultStep) -> Void = { _ in }) {
        self.files = files
        self.sealing = sealing
        replacement = DurableReplacement(files, probe: probe)
    }

    var quarantine: Quarantine { Quarantine(files: files) }

    /// Carries out what the election decided, before anything else is written.
    mutating func finishMoves() throws(FileFault) {
        while let move = unfinished.first {
            try carryOut(move)
            unfinished.removeFirst()
        }
    }

    /// Makes the installation's id durable: a record is worth nothing without the id that it names.
    mutating func storeInstallation() throws(FileFault) {
        guard let installation, installation.source != .stored else { return }
        try replacement.replace(.installation, with: installation.line, ifRefused: .keeps)
        self.installation = InstallationId(installation.text, .stored)
    }

    mutating func carryOut(_ move: Election.Move) throws(FileFault) {
        switch move {
        case .keepLive(let name):
            try quarantine.keep(.live, as: name, settled: settled)
        case .putAside(let file, let name):
            try quarantine.take(file, as: name, settled: settled)
        case .adopt(let file):
            // Gone: what this process was to write meanwhile is newer, and complete.
            guard let bytes = try files.read(file, atMost: RecordFrame.longest + 1) else { return }
            // Written anew, because a sync of this file may have failed. Linux reports that once: another sync of the same
            // file succeeds and writes nothing.
            try put(inPlace: bytes)
            // What is not removed is found again at the next start, and is not newer than the record then.
            try? files.remove(file)
        case .store(let bytes):
            try put(inPlace: bytes)
        case .discard(let file):
            // The name of what is newer may not have reached the disk: the process before this one may have been killed then.
            try files.sync(.top)
            try files.remove(file)
        }
    }

    /// Makes a record that won the election the record file, after the installation's id that it names.
    private mutating func put(inPlace bytes: [UInt8]) throws(FileFault) {
        let missing = Result { () throws(FileFault) in try storeInstallation() }
        // It is elsewhere too: a copy that the disk refuses is not left here.
        try replacement.replace(.live, with: bytes)
        try missing.get()
    }
}
