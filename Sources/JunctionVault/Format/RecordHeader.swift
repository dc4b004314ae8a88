import JunctionJSON
package import JunctionSession

/// The clear part of a record, which identifies it without the key.
///
/// The header is associated data of the seal, so with the key every change of a sealed record's header is detected. A
/// tombstone needs no seal.
package struct RecordHeader: Equatable, Sendable {
    /// The installation that wrote the record. On a cloned disk image it is another one.
    package var installation: String
    package var generation: UInt64
    package var edition: UInt32
    /// The id of the key that sealed the record. Only a tombstone may have none.
    package var keyId: String?
    package var provider: String
    package var scheme: Scheme?
    package var state: State
    package var userId: String?
    package var writtenAt: WallTime
    /// The quarantine names that a sign-in has acknowledged. These records are kept and no longer reported.
    package var acknowledged: [String]

    /// The kind of content in the sealed part.
    package enum State: String, Sendable, CaseIterable {
        case signedOut
        case configured
        case established
        case terminated
    }

    package init(
        of record: SessionRecord,
        installation: String,
        keyId: String?,
        acknowledged: [String] = []
    ) {
        self.installation = installation
        generation = record.generation
        edition = record.edition
        self.keyId = keyId
        provider = record.provider
        writtenAt = record.writtenAt
        self.acknowledged = acknowledged
        switch record.content {
        case .signedOut:
            state = .signedOut
        case .configured:
            (state, scheme) = (.configured, .apiKey)
        case .session(let session):
            (state, scheme, userId) = (.established, session.scheme, session.identity.userId)
        case .terminated(_, let identity):
            (state, userId) = (.terminated, identity?.userId)
        }
    }

    /// The age of the record, which orders candidates.
    package var age: RecordAge { RecordAge(generation: generation, edition: edition) }

    /// The header in the form that the session core uses.
    package var shown: Restoration.Header {
        Restoration.Header(
            generation: generation,
            edition: edition,
            provider: provider,
            scheme: scheme,
            state: state.shown,
            userId: userId
        )
    }
}

extension RecordHeader.State {
    /// The session state of this record, as far as the header shows it.
    package var shown: SessionState {
        switch self {
        case .signedOut, .configured: .notLoggedIn
        case .established: .established
        case .terminated: .terminated
        }
    }
}

/// Generation and edition. The higher one is newer.
package struct RecordAge: Hashable, Comparable, Sendable {
    package var generation: UInt64
    package var edition: UInt32

    package static func < (older: RecordAge, newer: RecordAge) -> Bool {
        (older.generation, older.edition) < (newer.generation, newer.edition)
    }

    /// No daemon reaches these numbers. A higher number in a header is wrong, and the next generation could overflow.
    private static let furthest = RecordAge(generation: 1 << 53, edition: 1 << 31)

    /// Whether the numbers are possible. A header whose seal was not verified may have at most half of the highest
    /// numbers. Otherwise a forged header could leave no higher number for the next record.
    func isPlausible(verified: Bool) -> Bool {
        let furthest = Self.furthest
        let share: UInt64 = verified ? 1 : 2
        return generation <= furthest.generation / share && edition <= furthest.edition / UInt32(share)
    }
}

// The header as JSON.
extension RecordHeader {
    /// The times that can be computed with. A header without a verified seal may have any number.
    private static let acceptedTimes: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

    func encoded() -> [UInt8] {
        var text = JSONWriter()
        text.object { text in
            text.member("installation", installation)
            text.member("generation", generation)
            text.member("edition", edition)
            if let keyId { text.member("key", keyId) }
            text.member("provider", provider)
            if let scheme { text.member("scheme", scheme.rawValue) }
            text.member("state", state.rawValue)
            if let userId { text.member("userId", userId) }
            text.member("writtenAt", writtenAt.milliseconds)
            if !acknowledged.isEmpty {
                text.array("settled") { text in
                    for name in acknowledged { text.string(name) }
                }
            }
        }
        return text.take()
    }

    /// Reads a header. Returns nil if a member is missing or not valid.
    init?(decoding bytes: [UInt8], format: RecordFormat) {
        guard
            let text = try? JSONValue.parse(bytes),
            let installation = text["installation"]?.string,
            let generation = text["generation"]?.unsigned,
            let provider = text["provider"]?.string,
            let state = text["state"]?.string.flatMap(State.init(rawValue:)),
            let writtenAt = text["writtenAt"]?.integer,
            Self.acceptedTimes.contains(writtenAt)
        else { return nil }

        self.installation = installation
        self.generation = generation
        self.provider = provider
        self.state = state
        self.writtenAt = WallTime(milliseconds: writtenAt)
        keyId = text["key"]?.string
        userId = text["userId"]?.string

        if let name = text["scheme"] {
            guard let scheme = name.string.flatMap(Scheme.init(rawValue:)) else { return nil }
            self.scheme = scheme
        }
        switch format {
        case .first:
            (edition, acknowledged) = (0, [])
        case .current:
            guard let edition = text["edition"]?.unsigned.flatMap(UInt32.init(exactly:)) else { return nil }
            self.edition = edition
            acknowledged = text["settled"]?.elements.compactMap(\.string) ?? []
        }
        guard age.isPlausible(verified: true), keyId != nil || state == .signedOut else { return nil }
    }
}
