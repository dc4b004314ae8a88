package import JunctionJSON

extension Snapshot: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "snapshot")
        self.init(
            revision: try members.unsigned("revision"),
            changedAt: try members.timestamp("changedAt"),
            state: try members.word("state"),
            flags: members["flags"]?.elements.compactMap { $0.string.map(Flag.init(rawValue:)) } ?? [],
            provider: try members.text("provider"),
            scheme: try members.optionalString("scheme"),
            userId: try members.optionalString("userId"),
            externalUserId: try members.optionalString("externalUserId"),
            teamId: try members.optionalString("teamId"),
            environment: try members.optionalString("environment"),
            region: try members.optionalString("region"),
            accessToken: try members.nested("accessToken", TokenLife.init(reading:)),
            renewal: try members.nested("renewal", Renewal.init(reading:)) ?? Renewal(),
            termination: try members.nested("termination", Termination.init(reading:)),
            storage: try members.nested("storage", Storage.init(reading:))
                ?? Storage(sealedWith: "", durable: true, status: .ok)
        )
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("revision", revision)
            writer.member("changedAt", changedAt)
            writer.member("state", state.rawValue)
            writer.array("flags") { writer in
                for flag in flags { writer.string(flag.rawValue) }
            }
            writer.member("provider", provider)
            writer.member("scheme", scheme)
            writer.member("userId", userId)
            writer.member("externalUserId", externalUserId)
            writer.member("teamId", teamId)
            writer.member("environment", environment)
            writer.member("region", region)
            writer.member("accessToken", accessToken)
            writer.member("renewal", renewal)
            writer.member("termination", termination)
            writer.member("storage", storage)
        }
    }

    package static let schema = Schema.reference("Snapshot")
    static let objectSchema = Schema.object([
        Member("revision", .unsigned, "rises whenever any other member changes"),
        Member("changedAt", .timestamp, "when that was"),
        Member("state", .word(State.known.map(\.rawValue)), "the state in one word"),
        Member("flags", .array(.word(Flag.known.map(\.rawValue))), "what else is the case"),
        Member("provider", .string, "junction, social or sinch"),
        Member("scheme", .orNull(.word(Credential.schemes)), "how the user came to be signed in"),
        Member("userId", .orNull(.string), "the signed-in user, as the provider spells the id"),
        Member("externalUserId", .orNull(.string), "the user as the app names them"),
        Member("teamId", .orNull(.string), "the team that the user belongs to"),
        Member("environment", .orNull(.string), "sandbox or production"),
        Member("region", .orNull(.string), "where the provider keeps the user's data"),
        Member("accessToken", .orNull(TokenLife.schema), "the life of the present access token"),
        Member("renewal", Renewal.schema, "what the renewal scheduler is doing"),
        Member("termination", .orNull(Termination.schema), "why the provider ended the session"),
        Member("storage", Storage.schema, "how the session is kept"),
    ])
}

extension Snapshot.TokenLife: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "accessToken")
        issuedAt = try members.timestamp("issuedAt")
        expiresAt = try members.timestamp("expiresAt")
        generation = try members.unsigned("generation")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("issuedAt", issuedAt)
            writer.member("expiresAt", expiresAt)
            writer.member("generation", generation)
        }
    }

    package static let schema = Schema.object([
        Member("issuedAt", .timestamp, "when the provider issued it"),
        Member("expiresAt", .timestamp, "when it dies"),
        Member("generation", .unsigned, "every new token has a higher number"),
    ])
}

extension Snapshot.Renewal: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "renewal")
        phase = try members.word("phase")
        notBefore = try members.optionalTimestamp("notBefore")
        failures = try members.optional("failures", "must be a whole number") { $0.integer.map(Int.init) } ?? 0
        lastError = try members.optionalString("lastError")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("phase", phase.rawValue)
            writer.member("notBefore", notBefore)
            writer.member("failures", failures)
            writer.member("lastError", lastError)
        }
    }

    package static let schema = Schema.object([
        Member("phase", .word(Phase.known.map(\.rawValue)), "what the scheduler is at"),
        Member("notBefore", .orNull(.timestamp), "when it goes on, if that is a matter of time"),
        Member("failures", .unsigned, "how many attempts failed in a row"),
        Member("lastError", .orNull(.string), "what went wrong last"),
    ])
}

extension Snapshot.Storage: WireValue {
    package init(reading value: JSONValue) throws(WireMismatch) {
        let members = try Members(value, at: "storage")
        sealedWith = try members.string("sealedWith")
        durable = try members.required("durable", "must be true or false") { $0.bool }
        status = try members.word("status")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("sealedWith", sealedWith)
            writer.member("durable", durable)
            writer.member("status", status.rawValue)
        }
    }

    package static let schema = Schema.object([
        Member("sealedWith", .word(["host+tpm2", "tpm2", "host", "file"]), "where the sealing key comes from"),
        Member("durable", .boolean, "whether what is in memory is also on disk"),
        Member("status", .word(Status.known.map(\.rawValue)), "whether the stored session can be read"),
    ])
}

extension Members {
    /// The member `snapshot`.
    func snapshot() throws(WireMismatch) -> Snapshot {
        guard let snapshot = try nested("snapshot", Snapshot.init(reading:)) else {
            throw mismatch("snapshot", "is missing: it must be an object")
        }
        return snapshot
    }

    /// A member that is an object of its own, if it is there.
    func nested<Value>(
        _ name: StaticString,
        _ read: (JSONValue) throws(WireMismatch) -> Value
    ) throws(WireMismatch) -> Value? {
        guard let value = self[name] else { return nil }
        return try read(value)
    }
}

extension JSONWriter {
    /// Writes a member that is an object of its own, or `null`.
    mutating func member(_ name: StaticString, _ value: (some WireValue)?) {
        key(name)
        if let value { value.write(to: &self) } else { null() }
    }
}
