import JunctionJSON
package import JunctionSession

/// A record as bytes: sealed under a key, or the one kind that needs none.
package enum SealedRecord {
    /// Why a record cannot become a file.
    package enum Fault: Error, Equatable {
        /// Only a tombstone may be written without a key.
        case noKey
        case tooLong(Int)
        /// It could not be read back: a token that is not text.
        case unreadable
    }

    /// The file of a record.
    package static func bytes(
        of record: SessionRecord,
        _ secrets: SessionSecrets,
        installation: String,
        settled: [String] = [],
        key: SealingKey?
    ) throws(Fault) -> [UInt8] {
        let header = RecordHeader(of: record, installation: installation, keyId: key?.id, settled: settled)
        guard let key else {
            guard header.state == .signedOut else { throw .noKey }
            return RecordFrame.clear(header, sealedLength: 0)
        }

        let payload = RecordPayload(
            content: record.content,
            approval: record.approval,
            partialGrants: record.partialGrants,
            secrets: secrets
        ).encoded()
        let sealedLength = payload.count + SealingKey.overhead
        var bytes = RecordFrame.clear(header, sealedLength: sealedLength)
        guard bytes.count + sealedLength <= RecordFrame.longest else { throw .tooLong(bytes.count + sealedLength) }
        // What cannot be read back must never replace what can.
        guard payload.withUnsafeBytes({ RecordPayload(decoding: $0, as: header.state, format: .current) }) != nil else {
            throw .unreadable
        }
        bytes += payload.withUnsafeBytes { key.seal($0, binding: bytes) }
        return bytes
    }
}

/// A record that is what was written: its seal verifies, or it is a tombstone, which is honoured without the key.
package struct OpenedRecord: Sendable {
    package var header: RecordHeader
    package var record: SessionRecord
    package var secrets: SessionSecrets

    /// The same without the sign-ins that were not complete: another installation's are none of ours.
    var withoutSignIns: OpenedRecord {
        var other = self
        (other.record.approval, other.record.partialGrants) = (nil, [])
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
            approval: payload.approval,
            partialGrants: payload.partialGrants
        )
        secrets = payload.secrets
    }
}
