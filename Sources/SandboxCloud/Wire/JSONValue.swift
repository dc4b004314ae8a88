import FoundationEssentials
import Hummingbird

/// Any JSON value, for bodies and claims of any shape.
enum JSONValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }

    /// Creates a string, or `null` for `nil`.
    init(_ text: String?) {
        self = text.map { .string($0) } ?? .null
    }

    init(_ texts: [String]) {
        self = .array(texts.map { .string($0) })
    }

    init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Response.jsonText(value))
    }

    subscript(key: String) -> JSONValue? { members[key] }

    /// The members of an object. Empty for other values.
    var members: [String: JSONValue] {
        guard case .object(let members) = self else { return [:] }
        return members
    }

    var string: String? {
        guard case .string(let string) = self else { return nil }
        return string
    }

    var seconds: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// Returns the value as JSON text with sorted keys, so that equal values have equal texts.
    func text() throws -> Data { try Response.jsonText(self) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral value: String) { self = .string(value) }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }

    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    init(booleanLiteral value: Bool) { self = .bool(value) }

    init(integerLiteral value: Int64) { self = .integer(value) }
}

extension [String: JSONValue] {
    /// Returns these members, and `null` for each missing name.
    func padded(with names: [String]) -> [String: JSONValue] {
        merging(names.map { ($0, .null) }) { member, _ in member }
    }

    /// Returns these members merged with others. `null` removes a member.
    func overlaid(with others: [String: JSONValue]) -> [String: JSONValue] {
        others.reduce(into: self) { members, other in
            members[other.key] = other.value == .null ? nil : other.value
        }
    }
}
