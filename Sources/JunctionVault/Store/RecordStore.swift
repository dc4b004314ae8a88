import JunctionSession

/// Finds the record at the start, and replaces it later. It is not safe for concurrent use; `Vault` serialises the
/// calls.
struct RecordStore: Sendable {
    let files: any StateFiles
    let sealing: Sealing
    var replacement: DurableReplacement

    /// Nil until `restore` has run.
    var installation: InstallationId?
    /// Why no write is allowed: the present files must not change.
    var refusal: String?
    /// The record on disk, without its secrets.
    var present: SessionRecord?
    /// The quarantine name of the record file, if the file must be kept when it is replaced.
    var predecessor: String?
    /// Moves of the record selection that have not succeeded yet.
    var unfinished: [RecordSelection.Move] = []
    /// Moves to do after the sign-in that acknowledges unverified records.
    var movesAfterSignIn: [RecordSelection.Move] = []
    /// Names in quarantine that are no longer reported.
    var acknowledged: Set<String> = []
    /// The names in quarantine that the record of the last write acknowledges, also if the disk has refused it.
    var sealedNames: [String] = []
    /// The generation of the last write that acknowledged records, and the names that were acknowledged before it. They
    /// apply again if the next generation withdraws that sign-in.
    var lastAcknowledgement: (generation: UInt64, before: Set<String>)?
    var hasReserve = false
    /// Whether the stored record, if there is one, is known to belong to this installation.
    var isSound = false
    /// Stages of bootstrap credentials that the disk has refused so far.
    var unwrittenStages = UsedCredentials()

    init(_ files: any StateFiles, _ sealing: Sealing, probe: @escaping @Sendable (VaultStep) -> Void = { _ in }) {
        self.files = files
        self.sealing = sealing
        replacement = DurableReplacement(files, probe: probe)
    }

    var quarantine: Quarantine { Quarantine(files: files) }

    /// Performs the moves of the record selection before anything else is written.
    mutating func finishMoves() throws(FileFault) {
        while let move = unfinished.first {
            try carryOut(move)
            unfinished.removeFirst()
        }
    }

    /// Makes the installation's id durable, because a record is useless without the id in its header.
    mutating func storeInstallation() throws(FileFault) {
        guard let installation, installation.source != .stored else { return }
        try replacement.replace(.installation, with: installation.line, ifRefused: .keeps)
        self.installation = InstallationId(installation.text, .stored)
    }

    mutating func carryOut(_ move: RecordSelection.Move) throws(FileFault) {
        switch move {
        case .keepLive(let name):
            try quarantine.keep(.record, as: name, acknowledged: acknowledged)
        case .putAside(let file, let name):
            try quarantine.take(file, as: name, acknowledged: acknowledged)
        case .adopt(let file):
            // If the file does not exist any more, a newer record of this process was complete and replaced it.
            guard let bytes = try files.read(file, atMost: RecordFrame.longest + 1) else { return }
            // The content is written to a new file, because a sync of this file may have failed. Linux reports such a
            // failure only once: another sync of the same file succeeds and writes nothing.
            try put(inPlace: bytes)
            // If the removal fails, the next start finds the file, which is then not newer than the record.
            try? files.remove(file)
        case .store(let bytes):
            try put(inPlace: bytes)
        case .discard(let file):
            // The rename of the newer record may not be on disk yet, if the earlier process was killed before its sync.
            try files.sync(.stateDirectory)
            try files.remove(file)
        }
    }

    /// Makes a record that was selected the record file, after the installation's id in its header.
    private mutating func put(inPlace bytes: [UInt8]) throws(FileFault) {
        let missing = Result { () throws(FileFault) in try storeInstallation() }
        // The record also exists elsewhere, so a failed temporary file need not stay.
        try replacement.replace(.record, with: bytes)
        try missing.get()
    }
}
