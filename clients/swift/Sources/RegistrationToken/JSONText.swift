import FoundationEssentials

/// The names of the claims.
enum Claim {
    static let instanceExpiry = "sinch:rtc:instance:exp"
}

/// The JSON functions that a token needs.
enum JSONText {
    /// The value of a member. Values of other kinds are not used.
    enum Scalar: Decodable {
        case text(String)
        case whole(Int64)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let whole = try? container.decode(Int64.self) {
                self = .whole(whole)
            } else if let number = try? container.decode(Double.self), number.magnitude < 0x1p53 {
                // A NumericDate may have a fraction (RFC 7519, section 2), but no rule depends on it.
                self = .whole(Int64(number.rounded(.down)))
            } else {
                self = .other
            }
        }

        var text: String? {
            guard case .text(let text) = self else { return nil }
            return text
        }

        var whole: Int64? {
            guard case .whole(let whole) = self else { return nil }
            return whole
        }
    }

    /// Returns the members of an object; `nil` if the text is not an object.
    static func object(_ text: [UInt8]) -> [String: Scalar]? {
        try? JSONDecoder().decode([String: Scalar].self, from: Data(text))
    }

    /// Returns a text in quotes. Slashes are not escaped: they need no escape, and the published tokens have none.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..."\u{1F}": quoted += "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
