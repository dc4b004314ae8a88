import Glibc
import JunctionSession

/// The findings of `doctor` about the stored session: its place, its permissions, its key and the quarantine.
struct Inspection {
    private let directory: StateDirectory
    private let sealing: Sealing
    /// The id that this process uses. Nil if the start could not read the state directory.
    private let installation: InstallationId?

    init(_ directory: StateDirectory, _ sealing: Sealing, _ installation: InstallationId?) {
        self.directory = directory
        self.sealing = sealing
        self.installation = installation
    }

    func findings() -> [ProbeFinding] {
        [directoryFinding, permissions, key, session, quarantine, reserve, diskSpace] + sequences
    }

    /// The only finding while the disk does not answer.
    static func stalled(_ directory: StateDirectory) -> ProbeFinding {
        .problem(
            "state directory",
            "The disk of \(directory.path) has not answered for \(RenewalPolicy.longestWrite.components.seconds) s.",
            remedy: "Look at the disk, and at the kernel's log: journalctl -k."
        )
    }

    private var directoryFinding: ProbeFinding {
        if let correction = directory.correction {
            return .note("state directory", "\(directory.path): \(correction).")
        }
        return .ok("state directory", "\(directory.path) is open to its owner only.")
    }

    private var permissions: ProbeFinding {
        let names = (try? directory.names(in: .stateDirectory)) ?? []
        let open = names.filter { name in
            var status = stat()
            guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
            return status.st_mode & S_IFMT == S_IFREG && (status.st_mode & 0o077 != 0 || status.st_uid != geteuid())
        }
        guard !open.isEmpty else { return .ok("file permissions", "Every file belongs to its owner only.") }
        let list = open.sorted().joined(separator: " ")
        return .problem(
            "file permissions",
            "Others can reach, or own: \(list).",
            remedy: "cd \(directory.path) && chown \(geteuid()) \(list) && chmod 600 \(list)"
        )
    }

    private var key: ProbeFinding {
        switch sealing {
        case .absent(let origin, let remedy):
            .problem("sealing key", "There is no key (expected: \(origin)).", remedy: remedy)
        case .key(let key) where key.origin == "file":
            .note(
                "sealing key",
                "Key \(key.id) is a file beside the sealed session: a copy of the disk is enough to open it.",
                remedy: "Run junctiond as a system service with an encrypted credential."
            )
        case .key(let key):
            .ok("sealing key", "Key \(key.id), protected by \(key.origin).")
        }
    }

    private var session: ProbeFinding {
        let name = "stored session"
        do throws(FileFault) {
            let installation = if let installation { installation } else { try InstallationId(from: directory) }
            guard let bytes = try directory.read(.record, atMost: RecordFrame.longest + 1) else {
                return .ok(name, "Nothing is stored.")
            }
            let reader = RecordReader(key: sealing.key, installation: installation)
            return finding(name, reader.finding(in: bytes), installation)
        } catch {
            return .problem(name, error.description)
        }
    }

    private func finding(
        _ name: String,
        _ finding: Candidate.Finding,
        _ installation: InstallationId
    ) -> ProbeFinding {
        let location = directory.location(of: .record)
        return switch finding {
        case .authentic(let opened): .ok(name, "It is in order: \(opened.header.words).")
        case .altered(let header): .problem(name, Remedy.damaged(header, location))
        case .illegible, .torn: .problem(name, Remedy.damaged(nil, location))
        case .locked(let header, let lock): .problem(name, Remedy.locked(header, lock, sealing, installation))
        case .newer(let format): .problem(name, Remedy.newer(format, location))
        case .unreadable(let fault): .problem(name, fault.description)
        }
    }

    private var quarantine: ProbeFinding {
        let names = (try? Quarantine(files: directory).names()) ?? []
        guard !names.isEmpty else { return .ok("quarantine", "Nothing was put aside.") }
        let list = names.joined(separator: ", ")
        return .note(
            "quarantine",
            "Put aside in \(directory.path)/\(StateFolder.quarantine.rawValue): \(list).",
            remedy: "Once the present session has proved good, these files may be removed."
        )
    }

    /// A finding only if the list is damaged, because most installations have no list.
    private var sequences: [ProbeFinding] {
        let name = "sequences"
        do throws(FileFault) {
            guard let bytes = try directory.read(.sequences, atMost: SequenceList.longestText + 1),
                SequenceList(decoding: bytes) == nil
            else { return [] }
            let location = directory.location(of: .sequences)
            return [.note(name, "\(location) is not valid: it counts as empty, and the next entry replaces it.")]
        } catch {
            return [.note(name, "\(error.description) Until then the list counts as empty.")]
        }
    }

    private var reserve: ProbeFinding {
        let names = (try? directory.names(in: .stateDirectory)) ?? []
        guard !names.contains(StateFile.reserve.name) else {
            return .ok("reserve", "Space is set aside for a full disk.")
        }
        return .note("reserve", "No space is set aside yet for a full disk; the next write tries to.")
    }

    private var diskSpace: ProbeFinding {
        var room = statvfs()
        guard fstatvfs(directory.descriptor, &room) == 0 else {
            let fault = FileFault("look at the file system of", directory.path, code: errno)
            return .problem("disk space", fault.description)
        }
        // Some file systems do not count files.
        let hasFiles = room.f_files == 0 || room.f_favail > 0
        return Self.diskSpace(
            of: directory.path,
            bytes: UInt64(room.f_bavail) * UInt64(room.f_frsize),
            hasFiles: hasFiles
        )
    }

    /// In bytes. A new record is written beside the present one, and then the reserve.
    private static let leastSpace: UInt64 = 512 * 1024

    static func diskSpace(of path: String, bytes: UInt64, hasFiles: Bool) -> ProbeFinding {
        let name = "disk space"
        let remedy = "Free some space there: a restart may cost the session after a renewal that could not be stored."
        guard hasFiles else {
            return .problem(name, "The file system of \(path) has no room for another file.", remedy: remedy)
        }
        guard bytes >= leastSpace else {
            return .problem(
                name,
                "The file system of \(path) is full: only \(bytes / 1024) KiB are free.",
                remedy: remedy
            )
        }
        return .ok(name, "\(path) has room for the session.")
    }
}

extension ProbeFinding {
    fileprivate static func ok(_ name: String, _ detail: String) -> ProbeFinding {
        ProbeFinding(name: name, verdict: .ok, detail: detail)
    }

    fileprivate static func note(_ name: String, _ detail: String, remedy: String? = nil) -> ProbeFinding {
        ProbeFinding(name: name, verdict: .note, detail: detail, remedy: remedy)
    }

    fileprivate static func problem(_ name: String, _ detail: String, remedy: String? = nil) -> ProbeFinding {
        ProbeFinding(name: name, verdict: .problem, detail: detail, remedy: remedy)
    }
}
