import FoundationEssentials
import JunctionText

/// The client id and the credential in a request (RFC 6749 §2.3, RFC 7523 §2.2), not yet verified.
struct ShownClient: Sendable {
    enum Proof: Sendable {
        case nothing
        case basic(String)
        case post(String)
        case assertion(String)
    }

    let id: String
    let proof: Proof

    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// Reads the credential from the header and the body. Refuses more than one method, even with the same secret.
    init(_ form: Form, authorization: String?) throws(TokenRefusal) {
        let secret = form["client_secret"]
        let assertion = form["client_assertion"]
        guard [authorization, secret, assertion].count(where: { $0 != nil }) <= 1 else {
            throw TokenError.invalidRequest.because("the client authenticates in more than one way")
        }
        let named = form["client_id"]
        let found: (id: String?, proof: Proof)
        if let authorization {
            let (id, secret) = try Self.basic(authorization)
            found = (id, .basic(secret))
        } else if let assertion {
            guard form["client_assertion_type"] == Self.assertionType else {
                throw TokenError.invalidRequest.because("client_assertion_type is not \(Self.assertionType)")
            }
            found = (ClientAssertion.client(of: assertion), .assertion(assertion))
        } else {
            found = (named, secret.map { .post($0) } ?? .nothing)
        }
        guard let id = found.id ?? named else {
            throw TokenError.invalidClient.because("the request does not say which client it comes from")
        }
        guard named == nil || named == id else {
            throw TokenError.invalidRequest.because("client_id is not the client that authenticates")
        }
        self.id = id
        proof = found.proof
    }

    /// Decodes a Basic header. Id and secret are form-encoded before the Base64 encoding (RFC 6749 §2.3.1).
    private static func basic(_ authorization: String) throws(TokenRefusal) -> (id: String, secret: String) {
        let words = authorization.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "basic", let bytes = Base64.decode(words[1].utf8, .standard)
        else { throw TokenError.invalidClient.because("the Authorization header is not Basic") }
        let halves = String(decoding: bytes, as: UTF8.self)
            .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else {
            throw TokenError.invalidClient.because("the Authorization header has no secret")
        }
        return (Form.plain(halves[0]), Form.plain(halves[1]))
    }
}
