/// Keeping the record: every write is asked for here, and every one that failed is made up for.
extension SessionMachine {
    struct PendingWrite: Equatable, Sendable {
        var ticket: WriteTicket
        var generation: UInt64
        var purpose: Purpose

        enum Purpose: Equatable, Sendable {
            case signIn(Attempt)
            case intent(Attempt)
            case rotation(Attempt)
            case termination(Attempt)
            case signOut
            /// A detail of the standing; whoever waits for it to be durable gets the reply.
            case note([RequestID], Reply)
            case rewrite
        }
    }

    /// What the disk owes us.
    struct Rewrite: Equatable, Sendable {
        var failures = 0
        var dueAt: Uptime?

        var isDue: Bool { dueAt != nil }
    }

    // MARK: Events

    /// A write ended; `failure` says why it did not succeed.
    package mutating func writeEnded(_ ticket: WriteTicket, failure: StoreFailure?, now: Moment) -> [Effect] {
        guard let index = writes.firstIndex(where: { $0.ticket == ticket }) else { return [] }
        let ended = writes.remove(at: index)
        var effects: [Effect] = []
        if let failure {
            rewrite.failures += 1
            rewrite.dueAt = now.uptime + RenewalPolicy.rewriteDelay(afterFailures: rewrite.failures)
            storage.durable = false
            effects.append(.report(.writeFailed(failure.message)))
        } else if writes.isEmpty {
            rewrite = Rewrite()
            storage.durable = true
        }
        effects += carryOn(after: ended, durably: failure == nil, now)
        return effects + settle(now)
    }

    private mutating func carryOn(after write: PendingWrite, durably: Bool, _ now: Moment) -> [Effect] {
        switch write.purpose {
        case .signIn(let attempt): signInWritten(attempt, generation: write.generation, now)
        case .intent(let attempt): intentNoted(attempt)
        case .rotation(let attempt): rotationWritten(attempt, generation: write.generation)
        case .termination(let attempt): terminationWritten(attempt)
        case .signOut: signedOut(durably: durably)
        case .note(let requests, let reply): requests.map { .reply($0, reply) }
        case .rewrite: []
        }
    }

    private mutating func signInWritten(_ attempt: Attempt, generation: UInt64, _ now: Moment) -> [Effect] {
        guard let current = exchange, current.attempt == attempt, let result = current.result else { return [] }
        let reply: Reply =
            switch current.purpose {
            case .signIn: .done
            case .identify(_, let outcome): .identified(isSameUser(standing, result) ? .unchanged : outcome)
            }
        let renewRequesters = renewal.requesters
        standing = result
        exchange = nil
        storage.status = .ok
        renewal = Renewal()
        return [.activate(generation: generation)]
            + AnswerUse.allCases.map { .forgetAnswer(for: $0) }
            + [.report(.exchangeEnded(.succeeded))]
            + dropRevocations(ofWhoSignedIn: result)
            + [.reply(current.request, reply)]
            + renewRequesters.map { .reply($0, .done) }
    }

    private func isSameUser(_ before: Standing, _ after: Standing) -> Bool {
        guard case .signedIn(let old) = before, case .signedIn(let new) = after else { return false }
        return old.stored.identity.isSameUser(as: new.stored.identity)
    }

    // MARK: Asking for writes

    mutating func write(
        _ content: SessionRecord.Content,
        for purpose: PendingWrite.Purpose,
        _ now: Moment
    ) -> [Effect] {
        lastTicket += 1
        let ticket = WriteTicket(number: lastTicket)
        writes.append(PendingWrite(ticket: ticket, generation: generation, purpose: purpose))
        let record = SessionRecord(
            generation: generation,
            edition: edition,
            writtenAt: now.wall,
            provider: provider,
            content: content
        )
        return [.write(ticket, record)]
    }

    /// Writes the present standing again, because a detail of it changed.
    mutating func writeNote(
        answering requests: [RequestID] = [],
        with reply: Reply = .done,
        _ now: Moment
    ) -> [Effect] {
        guard let content = standing.content else { return requests.map { .reply($0, reply) } }
        edition += 1
        return write(content, for: .note(requests, reply), now)
    }

    mutating func rewriteIfDue(_ now: Moment) -> [Effect] {
        guard let dueAt = rewrite.dueAt, dueAt <= now.uptime, writes.isEmpty, let content = standing.content else {
            return []
        }
        edition += 1
        return write(content, for: .rewrite, now)
    }
}

extension SessionMachine.Standing {
    /// What a record of this standing holds; nothing while the present record cannot even be read.
    var content: SessionRecord.Content? {
        switch self {
        case .signedOut: .signedOut
        case .configured(let environment, let region): .configured(environment: environment, region: region)
        case .signedIn(let session): .session(session.stored)
        case .terminated(let termination, let identity): .terminated(termination, identity)
        case .unreadable: nil
        }
    }
}
