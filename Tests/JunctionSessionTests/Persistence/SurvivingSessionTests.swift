import JunctionSession
import JunctionTesting
import Testing

/// A session that survived in the service manager's file-descriptor store and is not on the disk yet.
@Suite struct SurvivingSessionTests {
    private let now = Moment(wall: WallTime(milliseconds: 1_795_219_200_000), uptime: Uptime(milliseconds: 3_600_000))

    private var record: SessionRecord {
        let token = TokenFacts(issuedAt: now.wall, expiresAt: now.wall + .seconds(3_600), generation: 7)
        return SessionRecord(
            generation: 7,
            edition: 1,
            writtenAt: now.wall,
            provider: "junction",
            content: .session(
                StoredSession(
                    identity: Identity(userId: "alice"),
                    scheme: .signInToken,
                    token: token,
                    renewAt: now.wall + .seconds(2_000)
                )
            )
        )
    }

    @Test func `a surviving session is served at once, reported as not durable, and written soon`() throws {
        var machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "host",
            seed: 1
        )
        _ = machine.restored(
            .restored(record, SessionSecrets(), damaged: nil),
            secrets: SecretRef(number: 1),
            durable: false,
            now: now
        )

        #expect(machine.facts(now: now).state == .established)
        #expect(!machine.facts(now: now).storage.durable)
        let due = try #require(machine.nextAlarm(now: now))
        #expect(due <= now.wall + .seconds(1))

        let later = Moment(wall: due, uptime: now.uptime + (due - now.wall))
        let written = try #require(machine.alarmRang(now: later).writes.first)
        #expect(written.supersedes(record))
        #expect(written.content == record.content)
        _ = machine.writeEnded(failure: nil, now: later)
        #expect(machine.facts(now: later).storage.durable)
    }

    @Test func `the pauses between writes grow while the disk refuses them`() throws {
        var machine = SessionMachine(
            provider: "junction",
            schemes: FakeProvider.allSchemes,
            sealedWith: "host",
            seed: 1
        )
        _ = machine.restored(
            .restored(record, SessionSecrets(), damaged: nil),
            secrets: SecretRef(number: 1),
            durable: false,
            now: now
        )
        var (moment, pauses) = (now, [Duration]())

        for _ in 0..<8 {
            let due = try #require(machine.nextAlarm(now: moment))
            pauses.append(due - moment.wall)
            moment = Moment(wall: due, uptime: moment.uptime + (due - moment.wall))
            #expect(machine.alarmRang(now: moment).writes.count == 1)
            _ = machine.writeEnded(failure: StoreFailure("No space left"), now: moment)
        }

        #expect(pauses == pauses.sorted())
        #expect(pauses.last == .seconds(60))
        #expect(!machine.facts(now: moment).storage.durable)
    }
}

extension [Effect] {
    fileprivate var writes: [SessionRecord] {
        compactMap { if case .write(let record, _, _, _, _) = $0 { record } else { nil } }
    }
}
