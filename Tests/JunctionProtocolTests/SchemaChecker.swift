import JunctionJSON

/// A checker for the part of JSON Schema draft 7 that the OpenRPC meta-schema uses. An unknown keyword is a complaint,
/// so that no value passes unchecked.
struct SchemaChecker {
    /// Schemas by the address in references, without fragment and without a trailing slash.
    private var documents: [String: JSONValue]

    init(_ documents: [String: JSONValue]) {
        self.documents = documents
    }

    /// Returns the complaints about `value`, each with its path; empty if the value is valid.
    func complaints(about value: JSONValue, against address: String) -> [String] {
        guard let (schema, base) = resolve(address, from: "") else { return ["no schema at \(address)"] }
        return check(value, schema, base: base, path: "")
    }

    private func check(_ value: JSONValue, _ schema: JSONValue, base: String, path: String) -> [String] {
        if let verdict = schema.bool { return verdict ? [] : ["\(path): nothing is allowed here"] }
        if let reference = schema["$ref"]?.string {
            guard let (target, base) = resolve(reference, from: base) else { return ["\(path): no \(reference)"] }
            return check(value, target, base: base, path: path)
        }
        var complaints: [String] = []
        for (keyword, rule) in schema.members {
            guard let keyword = keyword.string else { continue }
            complaints += check(value, keyword, rule, in: schema, base: base, path: path)
        }
        return complaints
    }

    private func check(
        _ value: JSONValue,
        _ keyword: String,
        _ rule: JSONValue,
        in schema: JSONValue,
        base: String,
        path: String
    ) -> [String] {
        switch keyword {
        case "$schema", "$id", "title", "description", "default", "definitions", "format", "contentEncoding":
            return []
        case "type":
            let types = rule.kind == .array ? rule.elements.compactMap(\.string) : [rule.string ?? ""]
            return types.contains { isType(value, $0) } ? [] : ["\(path): must be \(types.joined(separator: " or "))"]
        case "enum":
            return rule.elements.contains { $0.rawText == value.rawText } ? [] : ["\(path): not one of the enum"]
        case "minimum":
            return (value.double ?? .infinity) >= (rule.double ?? 0) ? [] : ["\(path): too small"]
        case "exclusiveMinimum":
            return (value.double ?? .infinity) > (rule.double ?? 0) ? [] : ["\(path): too small"]
        case "minLength":
            return (value.string?.count ?? .max) >= Int(rule.integer ?? 0) ? [] : ["\(path): too short"]
        case "minItems":
            return value.kind != .array || Array(value.elements).count >= Int(rule.integer ?? 0)
                ? [] : ["\(path): too few"]
        case "uniqueItems":
            let texts = value.elements.map(\.rawText)
            return Set(texts).count == texts.count ? [] : ["\(path): the same twice"]
        case "required":
            return value.kind != .object
                ? []
                : rule.elements.compactMap(\.string).filter { value.member(named: $0) == nil }.map {
                    "\(path): no \($0)"
                }
        case "properties", "patternProperties", "additionalProperties":
            // All three are checked together, at the last of them.
            return isLast(keyword, of: ["properties", "patternProperties", "additionalProperties"], in: schema)
                ? checkMembers(value, schema, base: base, path: path) : []
        case "propertyNames":
            return []
        case "items":
            return value.elements.enumerated().flatMap { check($1, rule, base: base, path: "\(path)/\($0)") }
        case "additionalItems":
            return []
        case "oneOf", "anyOf":
            let failures = rule.elements.map { check(value, $0, base: base, path: path) }
            let passed = failures.count(where: \.isEmpty)
            return passed == 1 || passed > 1 && keyword == "anyOf"
                ? [] : ["\(path): fits \(passed) of \(keyword)"] + failures.joined()
        case "allOf":
            return rule.elements.flatMap { check(value, $0, base: base, path: path) }
        default:
            return ["\(path): the checker does not know \(keyword)"]
        }
    }

    private func checkMembers(_ value: JSONValue, _ schema: JSONValue, base: String, path: String) -> [String] {
        value.members.flatMap { name, member -> [String] in
            let name = name.string ?? ""
            var rules: [JSONValue] = []
            if let rule = schema["properties"]?.member(named: name) { rules.append(rule) }
            for (pattern, rule) in schema["patternProperties"].map(Array.init(membersOf:)) ?? []
            where name.fits(pattern) {
                rules.append(rule)
            }
            if rules.isEmpty, let rule = schema["additionalProperties"] { rules.append(rule) }
            return rules.flatMap { check(member, $0, base: base, path: "\(path)/\(name)") }
        }
    }

    private func isLast(_ keyword: String, of keywords: [String], in schema: JSONValue) -> Bool {
        schema.members.compactMap(\.name.string).last(where: keywords.contains) == keyword
    }

    private func isType(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "null": value.kind == .null
        case "boolean": value.kind == .bool
        case "integer": value.kind == .number && value.double.map { $0 == $0.rounded() } ?? false
        case "number": value.kind == .number
        case "string": value.kind == .string
        case "array": value.kind == .array
        case "object": value.kind == .object
        default: false
        }
    }

    /// Returns the schema that a reference means, and the document for references in it.
    private func resolve(_ reference: String, from base: String) -> (JSONValue, base: String)? {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var address = parts[0].isEmpty ? base : parts[0]
        if address.hasSuffix("/") { address.removeLast() }
        guard var schema = documents[address] else { return nil }
        for step in (parts.count > 1 ? parts[1] : "").split(separator: "/") {
            let element = Int(step).flatMap { number in
                schema.elements.enumerated().first { $0.offset == number }?.element
            }
            guard let next = schema.kind == .array ? element : schema.member(named: String(step)) else { return nil }
            schema = next
        }
        return (schema, address)
    }
}

extension [(String, JSONValue)] {
    fileprivate init(membersOf object: JSONValue) {
        self = object.members.map { ($0.name.string ?? "", $0.value) }
    }
}

extension String {
    fileprivate func fits(_ pattern: String) -> Bool {
        (try? Regex(pattern).firstMatch(in: self)) != nil
    }
}
