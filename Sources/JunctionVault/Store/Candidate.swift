import JunctionSession

/// One file, or one copy kept by the service manager, that may be the stored session.
package struct Candidate: Sendable {
    package var origin: Origin
    package var finding: Finding
    /// Its name in quarantine. The same content always gets the same name.
    package var quarantineName: String

    package enum Origin: Equatable, Sendable {
        case record
        case temporary(StateFile)
        /// The bytes of a copy that was kept outside the directory.
        case copy([UInt8])
    }

    /// The result of reading a candidate.
    package enum Finding: Sendable {
        /// The seal verifies, or it is a tombstone, which needs no key. The newest authentic candidate is the session.
        case authentic(OpenedRecord)
        /// The record is sealed under the present key, and its content does not verify.
        case altered(RecordHeader)
        /// The record may be valid and cannot be used, for the given reason.
        case locked(RecordHeader, Lock)
        /// The bytes are not a record, or its header is not legible.
        case illegible
        /// The write of a temporary file did not finish, or the record file has lost its content.
        case torn
        /// A newer junctiond wrote the record.
        case newer(format: UInt8)
        /// The system could not read the file.
        case unreadable(FileFault)
    }

    /// Why a record that may be valid cannot be used.
    package enum Lock: Equatable, Sendable {
        case noKey
        case otherKey
        /// Another installation sealed it under the same key: a cloned disk image.
        case otherInstallation
    }

    var header: RecordHeader? {
        switch finding {
        case .authentic(let opened): opened.header
        case .altered(let header), .locked(let header, _): header
        case .illegible, .torn, .newer, .unreadable: nil
        }
    }
}

/// Classifies candidates, by the sealing key and the id of this installation.
struct RecordReader {
    var key: SealingKey?
    var installation: InstallationId

    func candidate(_ origin: Candidate.Origin, _ bytes: [UInt8]) -> Candidate {
        let finding = finding(in: bytes, origin)
        return Candidate(
            origin: origin,
            finding: finding,
            quarantineName: Quarantine.name(of: bytes, finding)
        )
    }

    func finding(in bytes: [UInt8], _ origin: Candidate.Origin = .record) -> Candidate.Finding {
        do throws(RecordFrame.Fault) {
            return finding(in: try RecordFrame(reading: bytes), origin)
        } catch {
            return switch error {
            case .torn: .torn
            case .illegible: .illegible
            case .newer(let format): .newer(format: format)
            }
        }
    }

    private func finding(in frame: RecordFrame, _ origin: Candidate.Origin) -> Candidate.Finding {
        let header = frame.header
        guard let key, header.keyId == key.id else { return unverified(frame) }
        guard let payload = frame.payload(openedWith: key) else {
            return header.age.isPlausible(verified: false) ? .altered(header) : .illegible
        }
        let opened = OpenedRecord(header, payload)
        // A tombstone holds no login, so its installation does not matter.
        guard isOurs(header, origin) else {
            return header.state == .signedOut
                ? .authentic(opened.withoutSignIns) : .locked(header, .otherInstallation)
        }
        return .authentic(opened)
    }

    private func isOurs(_ header: RecordHeader, _ origin: Candidate.Origin) -> Bool {
        switch origin {
        case .record, .temporary: installation.wrote(header)
        // A copy never left this machine. It may be older than the stored id, if the disk also refused the id.
        case .copy: installation.wrote(header) || installation.source == .created
        }
    }

    /// Classifies a record that the present key did not seal, or any record if there is no key.
    private func unverified(_ frame: RecordFrame) -> Candidate.Finding {
        let header = frame.header
        guard header.age.isPlausible(verified: false) else { return .illegible }
        guard header.state == .signedOut, frame.sealed != nil else {
            return .locked(header, key == nil ? .noKey : .otherKey)
        }
        var opened = OpenedRecord(header, RecordPayload(content: .signedOut, secrets: SessionSecrets()))
        opened.record.mayHoldUnreadSignIns = frame.sealed?.isEmpty == false
        return .authentic(opened)
    }
}

extension RecordFrame {
    fileprivate func payload(openedWith key: SealingKey) -> RecordPayload? {
        guard let sealed else { return nil }
        return key.open(sealed, bound: clear) { bytes in
            RecordPayload(decoding: bytes, as: header.state, format: format)
        }
    }
}
