package import JunctionSession

/// junctiond's own session machine, with a disk that never fails.
package struct SessionDaemon: FleetDaemon {
    package static let name = "junctiond"

    private var machine: SessionMachine
    private var disk: SessionRecord?
    /// The request in flight, and whether it belongs to a sign-in.
    private var attempt = AttemptID(number: 0)
    private var isSignIn = false
    private var lastName: UInt64 = 0

    private static let user = Identity(userId: "user")
    private static let schemes = [Scheme.signInToken: SchemeTraits(renewsByRefreshToken: true)]

    package init(seed: UInt64) {
        machine = Self.machine(seed)
    }

    private static func machine(_ seed: UInt64) -> SessionMachine {
        SessionMachine(provider: "fleet", schemes: schemes, sealedWith: "file", seed: seed)
    }

    package static func renewalShare(using random: inout Randomness) -> Double {
        random.uniform(in: RenewalPolicy.share)
    }

    // MARK: Events

    package mutating func begin(with token: StoredToken?, _ now: Moment) -> Bool {
        disk = token.map { token in
            let facts = TokenFacts(issuedAt: token.issuedAt, expiresAt: token.expiresAt, generation: 1)
            let session = StoredSession(
                identity: Self.user,
                scheme: .signInToken,
                token: facts,
                renewAt: token.renewAt
            )
            return SessionRecord(
                generation: 1,
                writtenAt: token.issuedAt,
                provider: "fleet",
                content: .session(session)
            )
        }
        return restore(now)
    }

    package mutating func reboot(seed: UInt64, _ now: Moment) -> Bool {
        machine = Self.machine(seed)
        return restore(now)
    }

    private mutating func restore(_ now: Moment) -> Bool {
        let restoration = disk.map { Restoration.restored($0, SessionSecrets(), damaged: nil) } ?? .absent
        return perform(machine.restored(restoration, secrets: newSecrets(), now: now), now)
    }

    package mutating func signIn(_ now: Moment) -> Bool {
        let facts = CredentialFacts(scheme: .signInToken, subject: .user(Self.user))
        return perform(machine.signInRequested(newRequest(), facts, by: 0, now: now), now)
    }

    package mutating func alarmRang(_ now: Moment) -> Bool {
        perform(machine.alarmRang(now: now), now)
    }

    package mutating func clockJumped(_ now: Moment) -> Bool {
        perform(machine.clockJumped(now: now), now)
    }

    package mutating func networkChanged(_ now: Moment) -> Bool {
        perform(machine.networkChanged(now: now), now)
    }

    package mutating func appAsked(_ now: Moment) -> Bool {
        perform(machine.tokenRequested(newRequest(), minimumValidity: .zero, by: 0, now: now), now)
    }

    package mutating func granted(_ life: Life, _ now: Moment) -> Bool {
        let granted = Granted(identity: Self.user, scheme: .signInToken, life: life, secrets: newSecrets())
        return isSignIn
            ? perform(machine.exchangeSucceeded(attempt, granted, now: now), now)
            : perform(machine.renewalSucceeded(attempt, granted, now: now), now)
    }

    package mutating func failed(_ why: Unavailability, _ now: Moment) -> Bool {
        isSignIn
            ? perform(machine.exchangeFailed(attempt, .unavailable(why), now: now), now)
            : perform(machine.renewalFailed(attempt, .unavailable(why), now: now), now)
    }

    // MARK: Queries

    package func nextAlarm(_ now: Moment) -> WallTime? {
        machine.nextAlarm(now: now)
    }

    package func servesToken(_ now: Moment) -> Bool {
        machine.servable?.isValid(for: .zero, now) ?? false
    }

    // MARK: Effects

    /// Writes succeed at once; every other effect is a request.
    private mutating func perform(_ effects: [Effect], _ now: Moment) -> Bool {
        var leaves = false
        for effect in effects {
            switch effect {
            case .renew(let attempt, _, _, _):
                (self.attempt, isSignIn, leaves) = (attempt, false, true)
            case .exchange(let attempt, _, _, _):
                (self.attempt, isSignIn, leaves) = (attempt, true, true)
            case .write(let record, _, _, _, _):
                disk = record
                if perform(machine.writeEnded(failure: nil, now: now), now) { leaves = true }
            case .reply, .report:
                break
            case .requestDeviceAuthorization, .poll, .revoke, .interruptRevocation, .askHandler, .ask,
                .resumeProviderCall,
                .checkRegistration:
                // The simulation has no sign-out, no handler and no two-step credential.
                break
            }
        }
        return leaves
    }

    private mutating func newSecrets() -> SecretRef {
        lastName += 1
        return SecretRef(number: lastName)
    }

    private mutating func newRequest() -> RequestID {
        lastName += 1
        return RequestID(number: lastName)
    }
}
