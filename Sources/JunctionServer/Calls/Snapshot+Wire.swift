package import JunctionProtocol
package import JunctionSession

extension WireSnapshot {
    /// Makes the snapshot for the wire.
    ///
    /// - Parameter codes: the codes of the sign-in that awaits approval, for callers that may manage the session.
    package init(_ snapshot: JunctionSession.Snapshot, codes: DeviceCodes? = nil) {
        let facts = snapshot.facts
        self.init(
            revision: snapshot.revision,
            changedAt: Timestamp(snapshot.changedAt),
            state: State(facts.state),
            flags: facts.flags.map(Flag.init),
            provider: facts.provider,
            scheme: facts.scheme?.rawValue,
            userId: facts.userId,
            externalUserId: facts.externalUserId?.text,
            teamId: facts.teamId,
            environment: facts.environment,
            region: facts.region,
            accessToken: facts.accessToken.map(TokenLife.init),
            renewal: Renewal(facts.renewal),
            termination: facts.termination.map(WireTermination.init),
            authorization: facts.authorization.map { Authorization($0, codes) },
            storage: Storage(facts.storage)
        )
    }
}

extension WireSnapshot.TokenLife {
    init(_ facts: TokenFacts) {
        self.init(
            issuedAt: Timestamp(facts.issuedAt),
            expiresAt: Timestamp(facts.expiresAt),
            generation: facts.generation
        )
    }
}

extension WireSnapshot.Authorization {
    init(_ authorization: JunctionSession.Snapshot.Authorization, _ codes: DeviceCodes?) {
        self.init(
            userCode: codes.map { SecretText($0.userCode) },
            verificationUri: codes?.verificationUri,
            verificationUriComplete: codes?.verificationUriComplete.map(SecretText.init),
            expiresAt: Timestamp(authorization.expiresAt)
        )
    }
}

extension WireSnapshot.Renewal {
    init(_ renewal: JunctionSession.Snapshot.Renewal) {
        self.init(
            phase: Phase(renewal.phase),
            notBefore: renewal.notBefore.map(Timestamp.init),
            failures: renewal.failures,
            lastError: renewal.lastError,
            needsHandler: renewal.needsHandler
        )
    }
}

extension WireSnapshot.Storage {
    init(_ report: StorageReport) {
        self.init(
            sealedWith: report.sealedWith,
            durable: report.durable,
            status: Status(report.status),
            readable: report.status == .ok ? nil : report.isReadable,
            reason: report.reason
        )
    }
}

extension WireTermination {
    init(_ termination: JunctionSession.Termination) {
        self.init(code: termination.code, message: termination.message, at: Timestamp(termination.at))
    }
}

extension Timestamp {
    /// Makes a wire timestamp from a time of the session.
    package init(_ time: WallTime) {
        self.init(milliseconds: time.milliseconds)
    }
}
