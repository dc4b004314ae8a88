import JunctionSession

/// The messages about a record that cannot be used: what happened, to which file, and what to do.
enum Remedy {
    static func newer(_ format: UInt8, _ location: String) -> String {
        """
        \(location) was written by a newer junctiond (format \(format), this one reads up to \
        \(RecordFormat.current.rawValue)). It is left as it is: install the newer junctiond again.
        """
    }

    static func damaged(_ header: RecordHeader?, _ location: String) -> String {
        """
        \(location) \(header.map { "(\($0.words)) " } ?? "")is not what was written: the disk or another program \
        altered it. The file is kept. Sign in again. A backup of the file does not help: its refresh token may have been \
        replaced since, and the provider may end the session when it is used.
        """
    }

    static func locked(
        _ header: RecordHeader,
        _ lock: Candidate.Lock,
        _ sealing: Sealing,
        _ installation: InstallationId?
    ) -> String {
        switch (lock, sealing) {
        case (_, .absent(_, let remedy)):
            "The stored session (\(header.words)) cannot be opened without its key. \(remedy)"
        case (.otherInstallation, .key):
            """
            The stored session (\(header.words)) belongs to installation \(header.installation), and this one is \
            \(installation?.text ?? "new"): the disk looks like a copy of another machine's. Sign in again to give this \
            machine a session of its own; if its installation-id file was merely lost, put that id back into it and \
            restart junctiond.
            """
        case (.noKey, .key(let key)), (.otherKey, .key(let key)):
            """
            The stored session (\(header.words)) is sealed under key \(header.keyId ?? "unknown"), and the present key \
            is \(key.id) (\(key.origin)). Provide the old key and restart junctiond, or sign in again.
            """
        }
    }

    /// Names the damaged records that were put aside. Returns nil if there are none.
    static func putAside(_ damaged: [Damage]) -> String? {
        guard !damaged.isEmpty else { return nil }
        let files = damaged.map { damage in
            damage.header.map { "\(damage.location) (\($0.words))" } ?? damage.location
        }
        return """
            Put aside, because it is not what was written: \(files.joined(separator: ", ")). The newest sound record is \
            in use; should the provider refuse it, sign in again.
            """
    }

    static func unsealable(_ fault: SealedRecord.Fault, _ sealing: Sealing) -> String {
        switch (fault, sealing) {
        case (.noKey, .absent(_, let remedy)):
            "Nothing can be stored without a key. \(remedy)"
        case (.noKey, .key):
            "Nothing can be stored without a key. Provide one and restart junctiond."
        case (.tooLong(let count), _):
            "The session takes \(count) bytes and \(RecordFrame.longest) can be stored. The provider's tokens are too long."
        case (.unreadable, _):
            "The session holds a token that is not UTF-8 text and could not be read back. Report this to the provider."
        }
    }
}

extension RecordHeader {
    /// The record in a few words, for messages. Callers without the right to the status read them, too: they name no
    /// user and no state.
    var words: String { "\(provider), generation \(generation)" }
}
