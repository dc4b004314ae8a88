import JunctionSession

/// Finds the record at start and replaces it ever after. It does one thing at a time; the vault sees to that.
struct RecordKeeper: Sendable {
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
    /// What is to be noted of the service manager's credentials, and the disk has refused.
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
        var replacement = DurableReplacement(files)
        try replacement.replace(.installation, with: installation.line)
        self.installation = InstallationId(installation.text, .stored)
    }

    mutating func carryOut(_ move: Election.Move) throws(FileFault) {
        switch move {
        case .keepLive(let name):
            try quarantine.keep(.live, as: name, settled: settled)
        case .putAside(let file, let name):
            try quarantine.take(file, as: name, settled: settled)
        case .adopt(let file):
            // Its writer was stopped before or after it synced the file; nobody knows.
            try files.sync(contentOf: file)
            try files.rename(file, to: .live)
            try files.sync(.top)
        case .store(let bytes):
            try storeInstallation()
            try replacement.replace(.live, with: bytes)
        case .discard(let file):
            try files.remove(file)
        }
    }
}
