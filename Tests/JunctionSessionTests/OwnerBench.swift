import JunctionSecret
import JunctionTesting
import Synchronization

@testable import JunctionSession

/// A test bench of the owner, with fakes for its ports.
struct OwnerBench {
    let clock = ManualClock()
    let executor = ManualExecutor()
    let store = InMemoryStore()
    let alarm = RecordingAlarm()
    let observer = RecordingObserver()
    let provider: FakeProvider
    let owner: SessionOwner

    init(
        tokenLife: Duration = .seconds(3_600),
        callsPerMinute: Int = 60,
        rules: RenewalRules = RenewalRules()
    ) {
        provider = FakeProvider(clock: clock, tokenLife: tokenLife)
        owner = SessionOwner(
            provider: provider,
            store: store,
            clock: clock,
            alarm: alarm,
            observer: observer,
            executor: executor,
            tasks: executor,
            rules: rules,
            callsPerMinute: callsPerMinute,
            seed: 1
        )
    }

    /// Runs `body` on the owner, and then all work that it causes.
    func on(_ body: @escaping @Sendable (isolated SessionOwner) -> Void) {
        owner.assumeIsolated { body($0) }
        executor.runUntilIdle()
    }

    func start(_ restoration: Restoration = .absent) -> OwnerBench {
        on { $0.start(with: restoration) }
        return self
    }

    /// Advances time and rings the alarm.
    func pass(_ duration: Duration) {
        clock.advance(by: duration)
        on { $0.alarmRang(clockJumped: false) }
    }

    /// Lets the delayed provider calls continue, and runs all work that they cause.
    func release() {
        provider.release()
        executor.runUntilIdle()
    }

    func snapshot() -> Snapshot { owner.assumeIsolated { $0.snapshot } }

    // MARK: Callers

    /// Signs this user in and returns the bench.
    @discardableResult
    func signIn(_ user: String = "alice") -> OwnerBench {
        signIn(.signInToken(SharedSecret(text: user)))
        return self
    }

    @discardableResult
    func signIn(_ credential: Credential, by uid: UInt32 = 1_000) -> Answers<Snapshot> {
        answers { $0.signIn(credential, by: uid, answer: $1) }
    }

    @discardableResult
    func signOut() -> Answers<Snapshot> { answers { $0.signOut(by: 1_000, answer: $1) } }

    @discardableResult
    func renew(by uid: UInt32 = 1_000) -> Answers<Snapshot> { answers { $0.renew(by: uid, answer: $1) } }

    func token() -> Answers<ServedToken> { answers { $0.token(by: 1_000, answer: $1) } }

    /// Identifies this user, and answers the question with this credential.
    func identify(_ externalUserId: ExternalUserId?, answering credential: Credential? = nil) {
        on { owner in
            owner.identify(
                externalUserId: externalUserId,
                by: 1_000,
                ask: { request, _ in
                    guard let credential else { return }
                    owner.assumeIsolated { $0.identifyAnswered(request, with: .success(credential)) }
                },
                answer: { _ in }
            )
        }
    }

    @discardableResult
    func call(_ path: String = "/v2/user/alice", by uid: UInt32 = 1_000) -> Answers<ApiAnswer> {
        call(ApiRequest(method: "GET", path: path), by: uid)
    }

    @discardableResult
    func call(
        _ request: ApiRequest,
        by uid: UInt32 = 1_000,
        while isAllowed: @escaping @Sendable () -> Bool = { true }
    ) -> Answers<ApiAnswer> {
        answers { $0.call(request, by: uid, while: isAllowed, answer: $1) }
    }

    /// Runs `request` on the owner, with a callback that keeps the answer.
    private func answers<Answer: Sendable>(
        to request:
            @escaping @Sendable (
                isolated SessionOwner, @escaping @Sendable (Result<Answer, SessionError>) -> Void
            ) -> Void
    ) -> Answers<Answer> {
        let answers = Answers<Answer>()
        on { request($0) { answers.put($0) } }
        return answers
    }

    // MARK: Session handlers

    func register() -> OwnerHandler {
        let (handlers, questions) = (Box<HandlerID>(), Box<RenewalQuestion>())
        on { handlers.put($0.register(handlerOf: 1_000) { questions.put($0) }) }
        return OwnerHandler(bench: self, id: handlers.all[0], asked: questions)
    }
}

/// A session handler that is registered with the owner.
struct OwnerHandler {
    fileprivate let bench: OwnerBench
    let id: HandlerID
    fileprivate let asked: Box<RenewalQuestion>

    var questions: [RenewalQuestion] { asked.all }

    /// Answers the latest question.
    func answer(_ answer: RenewalAnswer?, saying words: String? = nil) {
        guard let attempt = questions.last?.attempt else { return }
        bench.on { [id] in $0.answered(id, attempt, answer, saying: words) }
    }
}

/// The answers to one request.
final class Answers<Answer: Sendable>: Sendable {
    private let received = Box<Result<Answer, SessionError>>()

    func put(_ answer: Result<Answer, SessionError>) { received.put(answer) }

    var all: [Result<Answer, SessionError>] { received.all }
    var first: Answer? { try? all.first?.get() }
    /// The error of each answer, and `nil` for a success.
    var errors: [SessionError?] { all.map { if case .failure(let error) = $0 { error } else { nil } } }
    var error: SessionError? { errors.first ?? nil }
}

extension Answers<ApiAnswer> {
    /// The status of each answer, or the kind of its error.
    var words: [String] {
        all.map { answer in
            switch answer {
            case .success(let answer): "\(answer.status)"
            case .failure(let error): error.kind.rawValue
            }
        }
    }
}

/// The received answers, in order.
final class Box<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func put(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}

extension Credential {
    /// A key, or the id of its user alone.
    static func apiKey(_ key: String?, of userId: String? = nil) -> Credential {
        guard let key else { return .apiKey(key: nil, userId: userId, environment: nil, region: nil) }
        return .apiKey(key: SharedSecret(text: key), userId: userId, environment: "sandbox", region: "us")
    }
}
