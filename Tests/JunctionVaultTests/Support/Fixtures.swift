import Crypto
import JunctionSecret
import JunctionSession

@testable import JunctionVault

let thisInstallation = "0123456789abcdef0123456789abcdef"
let otherInstallation = "fedcba9876543210fedcba9876543210"

extension SealingKey {
    /// Returns a key for tests. Different seeds give different keys.
    static func test(_ seed: UInt8 = 1, origin: String = "file") -> SealingKey {
        let bytes = [UInt8](repeating: seed, count: SealingKey.length)
        return SealingKey(bytes.withUnsafeBytes { JunctionSecret.SharedSecret(copying: $0) }, origin: origin)
    }
}

extension SessionSecrets {
    /// Returns secrets that differ by generation and are easy to find in other places.
    static func test(_ generation: UInt64) -> SessionSecrets {
        SessionSecrets(
            accessToken: .init(text: "access-\(generation)"),
            refreshToken: .init(text: "refresh-\(generation)"),
            apiKey: .init(text: "key-\(generation)")
        )
    }

    var texts: [String?] {
        [accessToken, refreshToken, apiKey].map { secret in
            secret?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension SessionRecord {
    static func test(
        _ generation: UInt64,
        edition: UInt32 = 0,
        _ content: Content? = nil
    ) -> SessionRecord {
        SessionRecord(
            generation: generation,
            edition: edition,
            writtenAt: WallTime(milliseconds: 1_700_000_000_000 + Int64(generation)),
            provider: "junction",
            content: content ?? .session(.test(generation: generation))
        )
    }
}

extension StoredSession {
    static func test(_ user: String = "u-1", generation: UInt64 = 1) -> StoredSession {
        StoredSession(
            identity: Identity(userId: user, teamId: "t-1", environment: "sandbox", region: "eu"),
            scheme: .signInToken,
            externalUserId: ExternalUserId("Äther \"1\""),
            token: TokenFacts(
                issuedAt: WallTime(milliseconds: 1_700_000_000_000),
                expiresAt: WallTime(milliseconds: 1_700_003_600_000),
                generation: generation
            ),
            renewAt: WallTime(milliseconds: 1_700_002_000_000),
            postponement: StoredPostponement(
                until: WallTime(milliseconds: 1_700_002_600_000),
                reason: "no session handler could help (1 was asked)"
            ),
            renewalUnderWay: true
        )
    }
}

/// Returns the file of a record as this installation writes it.
func sealed(
    _ record: SessionRecord,
    by installation: String = thisInstallation,
    key: SealingKey? = .test()
) -> [UInt8] {
    do {
        return try SealedRecord.bytes(of: record, .test(record.generation), installation: installation, key: key)
    } catch {
        fatalError("The fixture cannot be sealed: \(error)")
    }
}

/// Returns a record file with any content and a matching checksum.
func framed(version: UInt8 = 2, header: String, sealing payload: String? = nil) -> [UInt8] {
    let sealedLength = payload.map { $0.utf8.count + SealingKey.overhead } ?? 0
    var bytes = RecordFrame.magic + [version]
    for length in [header.utf8.count, sealedLength] {
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    }
    bytes += header.utf8
    bytes += SHA256.hash(data: bytes)
    guard var payload else { return bytes }
    return bytes + payload.withUTF8 { SealingKey.test().seal(UnsafeRawBufferPointer($0), binding: bytes) }
}

/// Returns the clear header of a record of generation 7.
func header(key: SealingKey = .test(), state: String = "established", and more: String = "") -> String {
    """
    {"installation":"\(thisInstallation)","generation":7,"edition":2,"key":"\(key.id)","provider":"junction",\
    "scheme":"signInToken","state":"\(state)","userId":"u-1","writtenAt":1700000000007\(more)}
    """
}

extension StateFile {
    static let temporary = StateFile.record.temporary(tag: "a")
    static let secondTemporary = StateFile.record.temporary(tag: "b")
}

extension SimulatedDisk {
    /// Creates a disk of this installation.
    convenience init(live: [UInt8]?, _ others: [StateFile: [UInt8]] = [:]) {
        var files = others
        files[.record] = live
        files[.installation] = files[.installation] ?? Array("\(thisInstallation)\n".utf8)
        self.init(files)
    }

    /// Returns a store that has restored the record of this disk.
    func store(_ sealing: Sealing = .key(.test())) -> (store: RecordStore, found: Restoration) {
        var store = RecordStore(self, sealing)
        let found = store.restore()
        return (store, found)
    }

    var inQuarantine: [StateFile: [UInt8]] { content.filter { $0.key.folder == .quarantine } }
    var temporaries: [StateFile] { content.keys.filter { StateFile.record.hasTemporary(named: $0.name) } }
}

extension Restoration {
    var record: SessionRecord? {
        if case .restored(let record, _, _) = self { record } else { nil }
    }

    var secrets: SessionSecrets? {
        if case .restored(_, let secrets, _) = self { secrets } else { nil }
    }

    var damaged: String? {
        if case .restored(_, _, let damaged) = self { damaged } else { nil }
    }

    var unreadable: Unreadable? {
        if case .unreadable(let unreadable) = self { unreadable } else { nil }
    }

    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }
}

extension Sealing {
    static let keyless = Sealing.absent(origin: "host", remedy: "Bring the key.")
}

extension [UInt8] {
    /// Returns these bytes with changed bits in one byte: the given one, or the last one.
    func altered(at index: Int? = nil) -> [UInt8] {
        var bytes = self
        bytes[index ?? count - 1] ^= 0x55
        return bytes
    }
}
