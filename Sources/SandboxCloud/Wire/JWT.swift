import FoundationEssentials
import JunctionText

/// A JSON Web Token in compact form (RFC 7515 §3.1) whose signature is not verified.
struct JWT: Sendable {
    let header: JSONValue
    let claims: JSONValue
    let signed: Data
    let signature: Data

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let decoded = parts.compactMap { Base64.decode($0.utf8, .urlSafe) }.map { Data($0) }
        guard parts.count == 3, decoded.count == 3,
            let header = try? JSONDecoder().decode(JSONValue.self, from: decoded[0]),
            let claims = try? JSONDecoder().decode(JSONValue.self, from: decoded[1])
        else { return nil }
        self.header = header
        self.claims = claims
        signed = Data("\(parts[0]).\(parts[1])".utf8)
        signature = decoded[2]
    }

    /// Returns the compact form of a token.
    static func text(
        _ header: [String: JSONValue],
        _ claims: [String: JSONValue],
        signature: (_ text: Data) throws -> some DataProtocol
    ) throws -> String {
        let parts = try [header, claims].map { Base64.encodeURLSafe(try JSONValue.object($0).text()) }
        let signed = parts.joined(separator: ".")
        return signed + "." + Base64.encodeURLSafe(Data(try signature(Data(signed.utf8))))
    }
}
