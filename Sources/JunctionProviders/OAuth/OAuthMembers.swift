import JunctionJSON
import JunctionSecret
import JunctionText

/// The members of an answer: a JSON object, or a form, which some servers send instead. The content type is ignored,
/// because some servers send JSON as HTML.
///
/// A member that is `null` or empty counts as absent.
struct OAuthMembers: Sendable {
    private enum Form: Sendable {
        case json(JSONValue)
        case form([String: SharedSecret])
    }

    private let form: Form

    init?(_ body: SharedSecret) {
        if let json = body.json {
            guard json.kind == .object else { return nil }
            form = .json(json)
        } else if let pairs = body.withUnsafeBytes(Self.pairs) {
            form = .form(pairs)
        } else {
            return nil
        }
    }

    /// Returns the JSON value of a member; `nil` in a form.
    func json(_ name: StaticString) -> JSONValue? {
        guard case .json(let object) = form, let value = object[name], !value.isNull else { return nil }
        return value
    }

    func secret(_ name: StaticString) -> SharedSecret? {
        let secret: SharedSecret? =
            switch form {
            case .json: json(name)?.secret
            case .form(let pairs): pairs["\(name)"]
            }
        return secret.flatMap { $0.count > 0 ? $0 : nil }
    }

    /// Returns a text that is not secret.
    func text(_ name: StaticString) -> String? {
        let text: String? =
            switch form {
            case .json: json(name)?.string
            case .form(let pairs): pairs["\(name)"]?.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
            }
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a number, which may be written as a string.
    func wholeNumber(_ name: StaticString) -> Int64? {
        if let number = json(name)?.integer { return number }
        return text(name).flatMap(Int64.init)
    }

    /// Parses `name=value` pairs separated by `&` (`application/x-www-form-urlencoded`); returns `nil` for any other
    /// text.
    private static func pairs(_ body: UnsafeRawBufferPointer) -> [String: SharedSecret]? {
        var pairs: [String: SharedSecret] = [:]
        for pair in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), equals != pair.startIndex,
                pair[..<equals].allSatisfy(PercentEncoding.isUnreserved),
                let value = decoded(pair[(equals + 1)...])
            else { return nil }
            pairs[String(decoding: pair[..<equals], as: UTF8.self)] = value
        }
        return pairs
    }

    private static func decoded(_ text: Slice<UnsafeRawBufferPointer>) -> SharedSecret? {
        guard text.allSatisfy(\.isVisibleASCII) else { return nil }
        return SharedSecret(capacity: text.count) { PercentEncoding.decode(form: text, into: $0) }
    }
}
