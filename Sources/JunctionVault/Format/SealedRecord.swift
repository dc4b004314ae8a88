import JunctionJSON
package import JunctionSession

/// Converts a record to the bytes of its file.
package enum SealedRecord {
    /// Why a record cannot be converted.
    package enum Fault: Error, Equatable {
        /// There is no key, and the record is not a tombstone.
        case noKey
        case tooLong(Int)
        /// A token is not text, so the record could not be read back.
        case unreadable
    }

    package static func bytes(
        of record: SessionRecord,
        _ secrets: SessionSecrets,
        installation: String,
        acknowledged: [String] = [],
        key: SealingKey?
    ) throws(Fault) -> [UInt8] {
        let header = RecordHeader(of: record, installation: installation, keyId: key?.id, acknowledged: acknowledged)
        guard let key else {
            guard header.state == .signedOut else { throw .noKey }
            return RecordFrame.clear(header.encoded(), sealedLength: 0)
        }

        let payload = RecordPayload(
            content: record.content,
            deviceSignIn: record.deviceSignIn,
            partialGrants: record.partialGrants,
            secrets: secrets
        ).encoded()
        let sealedLength = payload.count + SealingKey.overhead
        var bytes = RecordFrame.clear(header.encoded(), sealedLength: sealedLength)
        guard bytes.count + sealedLength <= RecordFrame.longest else { throw .tooLong(bytes.count + sealedLength) }
        // A record that cannot be read back must not replace a readable one.
        guard payload.withUnsafeBytes({ RecordPayload(decoding: $0, as: header.state, format: .current) }) != nil else {
            throw .unreadable
        }
        bytes += payload.withUnsafeBytes { key.seal($0, binding: bytes) }
        return bytes
    }
}

/// An authentic record: its seal verifies, or it is a tombstone, which is accepted without the key.
package struct OpenedRecord: Sendable {
    package var header: RecordHeader
    package var record: SessionRecord
    package var secrets: SessionSecrets

    /// The record without incomplete sign-ins, which belong to another installation.
    var withoutSignIns: OpenedRecord {
        var other = self
        other.record.mayHoldUnreadSignIns = record.hasSignIns
        (other.record.deviceSignIn, other.record.partialGrants) = (nil, [])
        (other.secrets.codes, other.secrets.partialGrants) = (nil, [])
        return other
    }

    init(_ header: RecordHeader, _ payload: RecordPayload) {
        self.header = header
        record = SessionRecord(
            generation: header.generation,
            edition: header.edition,
            writtenAt: header.writtenAt,
            provider: header.provider,
            content: payload.content,
            deviceSignIn: payload.deviceSignIn,
            partialGrants: payload.partialGrants
        )
        secrets = payload.secrets
    }
}
