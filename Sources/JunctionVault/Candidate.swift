import JunctionSession

/// One file, or one copy kept by the service manager, that may be the session.
package struct Candidate: Sendable {
    package var origin: Origin
    package var finding: Finding
    /// What it would be called in quarantine: the same content always gets the same name.
    package var quarantineName: String

    package enum Origin: Equatable, Sendable {
        case live
        case temporary(StateFile)
        /// Bytes that survived outside the directory.
        case copy([UInt8])
    }

    /// What reading it came to.
    package enum Finding: Sendable {
        /// It is what was written. The newest of these is the session.
        case authentic(OpenedRecord)
        /// Sealed under our key, and not what was sealed.
        case altered(RecordHeader)
        /// Nothing can be said about its content: see the reason.
        case locked(RecordHeader, Lock)
        /// Not a record, or one without a legible header.
        case illegible
        /// An unfinished write that holds nothing.
        case torn
        /// Written by a newer junctiond.
        case newer(format: UInt8)
        /// The system refused to read it.
        case unreadable(FileFault)
    }

    /// Why a record that may be perfectly good cannot be used.
    package enum Lock: Equatable, Sendable {
        case noKey
        case otherKey
        /// Sealed under our key by another installation: a cloned disk image.
        case otherInstallation
    }

    /// The header, where there is one to be read.
    var header: RecordHeader? {
        switch finding {
        case .authentic(let opened): opened.header
        case .altered(let header), .locked(let header, _): header
        case .illegible, .torn, .newer, .unreadable: nil
        }
    }
}

/// Tells what a candidate is: which key and which installation it has to be from.
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

    func finding(in bytes: [UInt8], _ origin: Candidate.Origin = .live) -> Candidate.Finding {
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
        // Nobody's login is in a tombstone, so it does not matter on which machine it was written.
        guard isOurs(header, origin) else {
            return header.state == .signedOut
                ? .authentic(opened.withoutSignIns) : .locked(header, .otherInstallation)
        }
        return .authentic(opened)
    }

    private func isOurs(_ header: RecordHeader, _ origin: Candidate.Origin) -> Bool {
        switch origin {
        case .live, .temporary: installation.wrote(header)
        // It never left this machine, and was made before the disk would take even the installation's id.
        case .copy: installation.wrote(header) || installation.source == .created
        }
    }

    /// A record under no key or a key that we do not have.
    private func unverified(_ frame: RecordFrame) -> Candidate.Finding {
        let header = frame.header
        guard header.age.isPlausible(verified: false) else { return .illegible }
        guard header.state == .signedOut, frame.sealed != nil else {
            return .locked(header, key == nil ? .noKey : .otherKey)
        }
        return .authentic(OpenedRecord(header, RecordPayload(content: .signedOut, secrets: SessionSecrets())))
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
