import JunctionJSON
import JunctionSecret
import JunctionSession

/// What social.plus says about a user, as opposed to everything that merely went wrong.
enum SocialVerdict: Equatable, Sendable {
    /// The user is banned everywhere. A ban from one channel or community (400304) is not the session's business.
    case banned
    /// The user's own entry says deleted.
    case deleted
    /// Deleted too, or not proven to be the user: the vendor has one code for both.
    case unauthorized

    static let globalBan: Int64 = 400_312

    /// The vendor's code, by which the end of a session is known.
    var code: String {
        switch self {
        case .banned: "400312"
        case .deleted, .unauthorized: "400100"
        }
    }

    var message: String {
        switch self {
        case .banned: "social.plus has banned this user"
        case .deleted: "social.plus has deleted this user"
        case .unauthorized: "social.plus no longer accepts this user: deleted, or an auth token is needed now"
        }
    }

    /// For the session, whose business it becomes.
    var ofUser: Verdict { Verdict(code: code, message: message) }

    /// Finds the verdict in a client error whose body says `{"code":…}`; every other code has judged nobody.
    init?(refusal answer: HttpAnswer) {
        guard answer.mayBeVerdict else { return nil }
        switch answer.socialCode {
        case Self.globalBan: self = .banned
        case 400_100: self = .unauthorized
        default: return nil
        }
    }

    /// Whether an answer to a sign-out says in the vendor's own words that there is no session to end any more. Every other code,
    /// and every status without one, may be about something else: a gateway in front of the vendor answers 401 and 403, too.
    static func settlesSignOut(_ answer: HttpAnswer) -> Bool {
        SocialVerdict(refusal: answer) != nil || (answer.mayBeVerdict && answer.socialCode == notFound)
    }

    private static let notFound: Int64 = 400_400

    /// Finds the verdict in the user's own entry of a success: the vendor opens a session for banned users as well.
    init?(users: JSONValue?, userId: String) {
        let own = users?.elements.first { $0["userId"]?.string?.hasSameBytes(as: userId) == true }
        guard let own else { return nil }
        if own["isGlobalBanned"]?.bool == true || own["isGlobalBan"]?.bool == true {
            self = .banned
        } else if own["isDeleted"]?.bool == true {
            self = .deleted
        } else {
            return nil
        }
    }
}

extension HttpAnswer {
    /// The code in the vendor's envelope, `{"status":"error","code":400100,"message":…}`.
    var socialCode: Int64? { body.withUnsafeBytes(Self.socialCode) }

    static func socialCode(in body: UnsafeRawBufferPointer) -> Int64? { (try? JSONValue.parse(body))?["code"]?.integer }
}
