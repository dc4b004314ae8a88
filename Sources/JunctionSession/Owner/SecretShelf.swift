import JunctionSecret

/// The session's secrets in memory: the ones that are served, and the ones that are on their way to be.
///
/// The machine names them by attempt and generation only; nothing but the owner ever holds them.
struct SecretShelf {
    private var answered: [Attempt: SessionSecrets] = [:]
    private var generations: [UInt64: SessionSecrets] = [:]
    private(set) var active: UInt64?
    /// What handlers gave, until the machine says that it is used or not wanted.
    private var given: [Attempt: RenewalAnswer] = [:]
    /// What the next exchange and the next renewal are made with, where a handler gave something.
    private(set) var answers: [AnswerUse: RenewalAnswer] = [:]
    /// The secrets of sessions that were signed out here, and that the provider has not heard of.
    private var signedOut: [RevocationID: SessionSecrets] = [:]

    /// What an attempt brought, until the machine says which generation it is.
    mutating func put(_ secrets: SessionSecrets, of attempt: Attempt) {
        answered[attempt] = secrets
    }

    mutating func put(_ secrets: SessionSecrets, generation: UInt64) {
        generations[generation] = secrets
    }

    mutating func adopt(_ attempt: Attempt, generation: UInt64) {
        generations[generation] = answered.removeValue(forKey: attempt)
    }

    mutating func drop(_ attempt: Attempt) {
        answered[attempt] = nil
    }

    /// Serves this generation from now on; every other one is let go, and wiped with its last user.
    mutating func activate(_ generation: UInt64) {
        active = generation
        generations = generations.filter { $0.key >= generation }
    }

    mutating func put(_ answer: RenewalAnswer, to attempt: Attempt) {
        given[attempt] = answer
    }

    mutating func keepAnswer(to attempt: Attempt, for use: AnswerUse) {
        answers[use] = given.removeValue(forKey: attempt)
        given = [:]
    }

    /// Lets go of what came late, twice, or unasked.
    mutating func dropUnclaimedAnswers() {
        given = [:]
    }

    mutating func forgetAnswer(for use: AnswerUse) {
        answers[use] = nil
    }

    /// These secrets outlive their session, in memory only.
    mutating func keep(_ source: SecretSource, for revocation: RevocationID) {
        signedOut[revocation] =
            switch source {
            case .present: current
            case .generation(let generation): generations[generation]
            case .attempt(let attempt): answered[attempt]
            }
    }

    mutating func forget(_ revocation: RevocationID) {
        signedOut[revocation] = nil
    }

    subscript(revocation: RevocationID) -> SessionSecrets? { signedOut[revocation] }

    /// Everything but what revocations need.
    mutating func erase() {
        answered = [:]
        generations = [:]
        active = nil
    }

    subscript(generation: UInt64) -> SessionSecrets? { generations[generation] }

    /// The secrets that are served now.
    var current: SessionSecrets? { active.flatMap { generations[$0] } }
}
