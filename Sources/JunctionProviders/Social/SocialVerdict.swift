import JunctionJSON
import JunctionSecret
import JunctionSession

/// A verdict of social.plus on a user. Every other error is a failure without a verdict.
enum SocialVerdict: Equatable, Sendable {
    /// The user is banned globally. A ban from one channel or community (400304) does not affect the session.
    case banned
    /// The user's own entry is marked as deleted.
    case deleted
    /// The user is deleted or is not authenticated: the provider has one code for both.
    case unauthorized

    static let globalBan: Int64 = 400_312

    /// The provider's error code, which the end of a session reports.
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

    /// Finds the verdict in a client error whose body has `{"code":…}`. Other codes are not a verdict.
    init?(refusal answer: HTTPAnswer) {
        guard answer.mayBeVerdict else { return nil }
        switch answer.socialCode {
        case Self.globalBan: self = .banned
        case 400_100: self = .unauthorized
        default: return nil
        }
    }

    /// Returns whether the answer to a sign-out contains a code of the provider that means that there is no session any
    /// more. Other codes and a status without a code do not prove that: a gateway in front of the provider may answer 401
    /// or 403.
    static func settlesSignOut(_ answer: HTTPAnswer) -> Bool {
        SocialVerdict(refusal: answer) != nil || (answer.mayBeVerdict && answer.socialCode == notFound)
    }

    private static let notFound: Int64 = 400_400

    /// Finds the verdict in the user's own entry of a success. The provider opens a session for banned users, too.
    init?(users: JSONValue?, userId: String) {
        guard let own = users?.own(userId) else { return nil }
        if own["isGlobalBanned"]?.bool == true || own["isGlobalBan"]?.bool == true {
            self = .banned
        } else if own["isDeleted"]?.bool == true {
            self = .deleted
        } else {
            return nil
        }
    }
}

extension JSONValue {
    /// The entry of this user in a list of users.
    func own(_ userId: String) -> JSONValue? {
        elements.first { $0["userId"]?.string?.hasSameBytes(as: userId) == true }
    }
}

extension HTTPAnswer {
    /// The code in the provider's error object, `{"status":"error","code":400100,"message":…}`.
    var socialCode: Int64? { body.withUnsafeBytes(Self.socialCode) }

    static func socialCode(in body: UnsafeRawBufferPointer) -> Int64? { (try? JSONValue.parse(body))?["code"]?.integer }
}
