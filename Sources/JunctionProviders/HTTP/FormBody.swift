import JunctionSecret
import JunctionText

/// A form in the encoding `application/x-www-form-urlencoded`.
///
/// A token is copied from its secret into the secret of the body, and never through a `String`.
struct FormBody: Sendable {
    static let contentType = "application/x-www-form-urlencoded"

    let encoded: SharedSecret

    /// The name and the value of a field. Names have only characters that need no encoding.
    enum Field: Sendable {
        case text(name: String, value: String)
        case secret(name: String, value: SharedSecret)
    }

    init(_ fields: [Field]) {
        encoded = SharedSecret(joining: Array(fields.map(\.pieces).joined(separator: [.text("&")])))
    }
}

extension FormBody.Field {
    fileprivate var pieces: [SecretPiece] {
        switch self {
        case .text(let name, let value): [.text("\(name)=\(PercentEncoding.encode(value))")]
        case .secret(let name, let value): [.text("\(name)="), .secret(value.percentEncoded)]
        }
    }
}

extension SharedSecret {
    var percentEncoded: SharedSecret {
        SharedSecret(
            Secret(capacity: 3 * count) { room in
                withUnsafeBytes { PercentEncoding.encode($0, into: room) }
            }
        )
    }
}
