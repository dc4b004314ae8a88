import Foundation
import JunctionSecret
import JunctionSession

/// Sign-In Tokens as Junction's backend makes them, valid or with one fault.
enum Sample {
    static let userId = "c36d4df5-e373-425d-aae7-8b091b003ddd"
    static let otherUserId = "00000000-1111-4222-8333-444444444444"
    static let teamId = "7eae574d-8b78-4ae0-ac8d-ecbe567b5555"

    static let identity = Identity(userId: userId, teamId: teamId, environment: "sandbox", region: "us")
    static let otherUser = Identity(userId: otherUserId, environment: "sandbox", region: "us")

    static let header = #"{"alg":"RS256","typ":"JWT"}"#

    static func claims(
        place: String = "stg-us",
        uid: String = userId,
        team: String = teamId,
        tenant: String = "t-7eae574d8b784ae0ac-ab12cd"
    ) -> String {
        """
        {"iss":"id-signer-\(place)@vital-id-\(place).iam.gserviceaccount.com","uid":"\(uid)","aud":"x",\
        "tenant_id":"\(tenant)","claims":{"vital_team_id":"\(team)"}}
        """
    }

    static func jwt(header: String = header, claims: String = claims()) -> String {
        "\(base64url(header)).\(base64url(claims)).c2lnbmF0dXJl"
    }

    static func token(_ jwt: String = jwt()) -> String {
        base64(#"{"public_key":"AIza","user_token":"\#(jwt)","added_later":1}"#)
    }

    static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    static func base64url(_ text: String) -> String {
        base64(text).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func credential(_ token: String = token()) -> Credential { .signInToken(SharedSecret(text: token)) }
}
