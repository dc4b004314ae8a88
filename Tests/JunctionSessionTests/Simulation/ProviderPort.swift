import JunctionSecret
import JunctionSession

/// The provider as the owner calls it. Each call waits on the simulation's agenda, and its answer is converted for the
/// owner.
struct ProviderPort: IdentityProvider {
    let name = "junction"
    let life: ProcessLife
    let schemes: [Scheme: SchemeTraits]
    private var simulation: Simulation { life.simulation }

    init(life: ProcessLife, schemes: [Scheme: SchemeTraits]) {
        (self.life, self.schemes) = (life, schemes)
    }

    /// Reads a credential. Its secret begins with its kind and its user. A registration has its request after the user.
    func examine(
        _ credential: Credential,
        configured: (environment: String, region: String)?
    ) throws(CredentialRefused) -> CredentialFacts {
        switch credential {
        case .device:
            return CredentialFacts(scheme: .device, subject: .unnamed)
        case .linkCode:
            return CredentialFacts(scheme: .linkCode, subject: .unnamed)
        case .registration(let name, let token):
            let user = String(name.prefix { $0 != ":" })
            return CredentialFacts(scheme: .registration, subject: .user(.user(user)), needsHandler: token == nil)
        case .signInToken(let secret):
            return CredentialFacts(scheme: .signInToken, subject: .user(.user(secret.user)))
        case .userLogin(let user, _, _):
            return CredentialFacts(scheme: .userLogin, subject: .user(.user(user)))
        default:
            throw .unsupported("This provider has no scheme \(credential.scheme.rawValue)")
        }
    }

    // MARK: Sign-ins

    func exchange(
        _ credential: Credential,
        expecting expected: Identity?,
        store: PartialGrantStore
    ) async throws(ExchangeFailure) -> Grant {
        guard !life.isOver else { throw .unavailable(.dead) }
        let call = simulation.exchange(of: credential, expecting: expected?.userId, store)
        let (outcome, start) = await complete(call, store)
        switch outcome {
        case .granted(let tokens): return grant(tokens, start)
        case .otherUser(let user): throw .otherUser(.user(user))
        case .unavailable(let isAmbiguous, let pause): throw .unavailable(.noAnswer(isAmbiguous, pause))
        case .unexplained: throw .unavailable(Unavailability("It answered 400"))
        case .deleted: throw .refused("invalid_token")
        default: throw .refused("It is used up")
        }
    }

    func requestDeviceAuthorization(_ credential: Credential) async throws(ExchangeFailure) -> DeviceAuthorization {
        guard !life.isOver else { throw .unavailable(.dead) }
        let start = simulation.now
        switch await simulation.send(simulation.authorization()) {
        case .codes(let codes):
            return DeviceAuthorization(
                codes: DeviceCodes(
                    deviceCode: simulation.secret("code:\(codes.number)"),
                    userCode: SharedSecret(text: "user-code:\(codes.number)"),
                    verificationUri: "https://id.example.com/device"
                ),
                life: Life(from: start, lasting: .milliseconds(codes.life)),
                interval: .milliseconds(codes.interval)
            )
        case .unavailable(let isAmbiguous, let pause): throw .unavailable(.noAnswer(isAmbiguous, pause))
        default: throw .unavailable(Unavailability("It answered 400"))
        }
    }

    func poll(_ codes: DeviceCodes, store: PartialGrantStore) async throws(PollFailure) -> Grant {
        guard !life.isOver else { throw .unavailable(.dead) }
        let (outcome, start) = await complete(simulation.poll(with: codes.deviceCode, store), store)
        switch outcome {
        case .granted(let tokens): return grant(tokens, start)
        case .undecided(let failure): throw failure
        case .unavailable(let isAmbiguous, let pause): throw .unavailable(.noAnswer(isAmbiguous, pause))
        case .unexplained: throw .unavailable(Unavailability("It answered 400"))
        default: throw .refused("It is used up")
        }
    }

    /// Completes a sign-in or a renewal. It uses the tokens of an earlier attempt if there are some, and requests the user if the
    /// tokens have none.
    private func complete(_ call: Call, _ store: PartialGrantStore) async -> (Answer, start: Moment) {
        var start = simulation.now
        var tokens = store.found.flatMap { simulation.provider.tokens(of: $0.number) }
        if tokens == nil {
            let answer = await simulation.send(call)
            guard case .unnamed(let granted) = answer else { return (answer, start) }
            guard await store.keep(simulation.secret("partial:\(granted.refresh)")), !life.isOver else {
                return (.unavailable(isAmbiguous: false, retryAfter: nil), start)
            }
            tokens = granted
        }
        guard let tokens else { return (.refused, start) }
        start = simulation.moment(tokens.at)
        return (await simulation.askUserinfo(tokens, call, isResumed: store.found != nil), start)
    }

    func revokePartialGrant(_ partialGrant: SharedSecret) async throws(Unavailability) {
        guard !life.isOver else { return }
        let answer = await simulation.send(simulation.revocation(of: partialGrant))
        if case .unavailable(let isAmbiguous, let pause) = answer { throw .noAnswer(isAmbiguous, pause) }
    }

    // MARK: The session

    func knows(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) -> Bool {
        guard !life.isOver, simulation.isHealed || simulation.chance(4) > 0 else { throw .noAnswer(false, nil) }
        return simulation.isHealed || simulation.chance(2) == 0
    }

    func renew(
        _ identity: Identity,
        with secrets: SessionSecrets,
        using answer: RenewalAnswer,
        sendingBy sendDeadline: Uptime?,
        store: PartialGrantStore
    ) async throws(RenewalFailure) -> Grant {
        guard !life.isOver else { throw .unavailable(.dead) }
        let call = simulation.renewal(of: identity.userId, with: secrets, using: answer, store)
        let (outcome, start) = await complete(call, store)
        switch outcome {
        case .granted(let tokens): return grant(tokens, start)
        case .successor(let tokens):
            var grant = grant(tokens, start)
            (grant.token, grant.missingAccessToken) = (nil, Unavailability("No access token"))
            return grant
        case .deleted: throw .terminated(code: "invalid_token", message: "The user was deleted")
        case .reauthentication: throw .reauthenticationRequired
        case .unavailable(let isAmbiguous, let pause): throw .unavailable(.noAnswer(isAmbiguous, pause))
        case .unexplained(let isOfToken):
            var failure = Unavailability("It answered 400")
            failure.isUnexplainedRefusal = isOfToken
            throw .unavailable(failure)
        default: throw .answerRefused("It is used up")
        }
    }

    func revoke(_ identity: Identity, with secrets: SessionSecrets) async throws(Unavailability) {
        guard !life.isOver else { return }
        let call = simulation.revocation(of: identity.userId, with: secrets)
        let answer = await withTaskCancellationHandler {
            await simulation.send(call)
        } onCancel: {
            life.simulation.interruptRevocation()
        }
        if case .unavailable(let isAmbiguous, let pause) = answer { throw .noAnswer(isAmbiguous, pause) }
    }

    func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest { request }

    func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        guard !life.isOver else { throw .dead }
        let answer = await simulation.send(simulation.apiCall(of: identity.userId, with: secrets))
        guard case .status(let status) = answer else { throw .noAnswer(false, nil) }
        return ApiAnswer(status: status, headers: [], body: [])
    }

    func verdict(in answer: ApiAnswer) -> Verdict? {
        answer.status == 403 ? Verdict(code: "400312", message: "The user is banned") : nil
    }

    func probe(_ identity: Identity?, mayCall: @Sendable () async -> SessionError?) async -> [ProbeFinding] { [] }

    private func grant(_ tokens: SimulatedProvider.Tokens, _ start: Moment) -> Grant {
        Grant(
            identity: .user(tokens.user),
            scheme: simulation.scheme,
            token: Grant.Token(
                secret: simulation.secret("access:\(tokens.access)"),
                life: Life(from: start, lasting: .milliseconds(tokens.life))
            ),
            refreshToken: simulation.secret("refresh:\(tokens.family):\(tokens.refresh)")
        )
    }
}

extension Unavailability {
    static let dead = Unavailability("The process is dead")

    static func noAnswer(_ isAmbiguous: Bool, _ pause: Duration?) -> Unavailability {
        Unavailability("No answer", retryAfter: pause, ambiguous: isAmbiguous)
    }
}

extension SharedSecret {
    /// The number after the last colon.
    var number: Int {
        withUnsafeBytes { bytes in
            var (number, scale) = (0, 1)
            for byte in bytes.reversed() {
                guard byte >= 48, byte <= 57 else { break }
                number += Int(byte - 48) * scale
                scale *= 10
            }
            return number
        }
    }

    /// The user of a credential, between the first two colons.
    var user: String {
        withUnsafeBytes { String(decoding: $0.split(separator: 58)[1], as: UTF8.self) }
    }

    /// Whether the first character of the secret is this kind.
    func isOf(_ kind: Character) -> Bool {
        withUnsafeBytes { $0.first == kind.asciiValue }
    }
}
