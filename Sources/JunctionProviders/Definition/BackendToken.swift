import JunctionJSON
import JunctionSecret
import JunctionSession

/// A token that an app's backend made for a user: bare, or in the JSON object of the backend's answer, `{"user_id":
/// "…", "sign_in_token": "…"}`.
struct BackendToken: Sendable {
    let token: SharedSecret
    /// The user in the JSON object.
    let userId: String?

    /// Much longer than any such object.
    private static let longest = 1 << 16

    init(_ text: SharedSecret) throws(CredentialRefused) {
        guard text.withUnsafeBytes({ $0.first { !Self.isSpace($0) } }) == UInt8(ascii: "{") else {
            (token, userId) = (text, nil)
            return
        }
        guard text.count <= Self.longest, let object = text.withUnsafeBytes({ try? JSONValue.parse($0) }) else {
            throw .misdescribed("The token begins with { and is not JSON: \(Self.rule)")
        }
        // The names in camel case count only if there is none of the others, which backends may use for something else.
        let (standard, camelCase) = (object.members(named: Self.tokens), object.members(named: Self.camelCaseTokens))
        let tokens = standard.isEmpty ? camelCase : standard
        guard tokens.count == 1, let token = tokens[0].value.secret else {
            if tokens.isEmpty, !object.members(named: ["code"]).isEmpty {
                throw .misdescribed("The JSON object has a link code: use the code alone, as a link code (--link-code)")
            }
            throw .misdescribed("The JSON object does not have exactly one member with a token: \(Self.rule)")
        }
        guard token.count > 0 else { throw .misdescribed("The token of the JSON object is empty: \(Self.rule)") }
        let ids = object.members(named: ["user_id"]).filter { !$0.value.isNull }
        let isCamelCase = ids.isEmpty && standard.isEmpty
        let userId = (isCamelCase ? object.members(named: ["userId"]) : ids).first?.value.string
        guard ids.isEmpty || (ids.count == 1 && userId != nil) else {
            throw .misdescribed("The user_id of the JSON object is not a string, or occurs twice: \(Self.rule)")
        }
        (self.token, self.userId) = (token, userId)
    }

    /// Throws if the object names another user than the token or the sign-in.
    func requireUser(_ identity: Identity) throws(CredentialRefused) {
        guard let userId, !identity.isCalled(userId) else { return }
        throw .misdescribed(
            "The user_id beside the token is not \(identity.userId), whom the token is for: pass on what the backend answered "
                + "for one user"
        )
    }

    private static let tokens: [StaticString] = [
        "sign_in_token", "signInToken", "auth_token", "registration_token", "token",
    ]
    private static let camelCaseTokens: [StaticString] = ["authToken", "registrationToken"]

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static let rule =
        "give the bare token, or the object that the backend answers, with \"user_id\" and one of \"sign_in_token\", "
        + "\"auth_token\", \"registration_token\" or \"token\" (also in camel case)"
}

extension JSONValue {
    fileprivate func members(named names: [StaticString]) -> [(name: JSONValue, value: JSONValue)] {
        members.filter { member in names.contains { member.name.stringEquals($0) } }
    }
}
