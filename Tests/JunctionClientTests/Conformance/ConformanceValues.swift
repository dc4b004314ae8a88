import JunctionClient
import JunctionJSON
import JunctionProtocol

func json(_ value: some WireValue) -> JSONValue {
    written { value.write(to: &$0) }
}

/// Returns the JSON of an error of either side, with the names of the members on the wire.
func json(_ error: JunctionError) -> JSONValue {
    written { writer in
        writer.beginObject()
        writer.key("kind")
        writer.string(error.kind.rawValue)
        writer.key("message")
        writer.string(error.message)
        if let code = error.code {
            writer.key("code")
            writer.integer(code)
        }
        for (name, span) in [("retryAfter", error.retryAfter), ("maximum", error.maximum)] {
            guard let span else { continue }
            writer.key(name)
            writer.double(span / .seconds(1))
        }
        for (name, word) in [("userId", error.userId), ("capability", error.capability)] {
            guard let word else { continue }
            writer.key(name)
            writer.string(word)
        }
        if let termination = error.termination {
            writer.key("termination")
            termination.write(to: &writer)
        }
        writer.endObject()
    }
}

func written(_ write: (inout JSONWriter) -> Void) -> JSONValue {
    var writer = JSONWriter()
    write(&writer)
    // A writer's output is always valid JSON; otherwise, every test fails.
    return (try? JSONValue.parse(writer.take())) ?? nothing
}

private let nothing = try! JSONValue.parse(Array("null".utf8))

/// Returns the value with each `{"$repeat": [text, count]}` expanded.
func expanded(_ value: JSONValue) -> JSONValue {
    written { writer in expand(value, &writer) }
}

private func expand(_ value: JSONValue, _ writer: inout JSONWriter) {
    switch value.kind {
    case .object:
        if let parts = value.member(named: "$repeat").map({ Array($0.elements) }), parts.count == 2 {
            return writer.string(String(repeating: parts[0].string ?? "", count: Int(parts[1].integer ?? 0)))
        }
        writer.beginObject()
        for (name, member) in value.members {
            writer.key(name.string ?? "")
            expand(member, &writer)
        }
        writer.endObject()
    case .array:
        writer.beginArray()
        for element in value.elements { expand(element, &writer) }
        writer.endArray()
    case .null, .bool, .number, .string:
        writer.value(value)
    }
}

/// Returns whether a value has the expected members. Members that are not named do not matter, and `null` means absent.
func matches(_ value: JSONValue?, _ expected: JSONValue) -> Bool {
    guard let value, !value.isNull else { return expected.isNull }
    switch expected.kind {
    case .null: return false
    case .bool: return value.bool == expected.bool
    case .number: return value.double == expected.double
    case .string: return value.string == expected.string
    case .array where value.kind != .array:
        return expected.elements.contains { matches(value, $0) }
    case .array:
        let (elements, wanted) = (Array(value.elements), Array(expected.elements))
        return elements.count == wanted.count && zip(elements, wanted).allSatisfy { matches($0, $1) }
    case .object:
        return expected.members.allSatisfy { matches(value.member(named: $0.name.string ?? ""), $0.value) }
    }
}
