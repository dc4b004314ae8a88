import FoundationEssentials

/// The names of the members that are read and written.
enum Claim {
    static let instanceExpiry = "sinch:rtc:instance:exp"
}

/// The little JSON that a token needs.
enum JSONText {
    /// What a member of a header or of the claims may be; everything else is of no interest.
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
                // A NumericDate may have a fraction (RFC 7519 §2), which no rule here depends on.
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

    /// The members of an object; `nil` when the text is none.
    static func object(_ text: [UInt8]) -> [String: Scalar]? {
        try? JSONDecoder().decode([String: Scalar].self, from: Data(text))
    }

    /// A text in quotes. Slashes stay as they are: they need no escape, and the published tokens have none.
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
