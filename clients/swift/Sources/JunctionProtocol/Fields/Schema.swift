package import JunctionJSON

/// The form of a value, in the part of JSON Schema that the interface needs.
package indirect enum Schema: Sendable {
    case string
    case boolean
    case null
    case integer
    case number
    /// A whole number that is not negative.
    case unsigned
    /// A duration in seconds, with fractions.
    case seconds
    case timestamp
    /// A secret, such as a token or key.
    case secret
    /// Bytes that are not text.
    case base64
    /// One of these words.
    case word([String])
    case array(Schema)
    /// An object with any member names.
    case map(Schema)
    /// An object that later versions may extend.
    case object([Member])
    /// An object without other members.
    case closedObject([Member])
    case oneOf([Schema])
    case orNull(Schema)
    /// A schema of the document's components.
    case reference(String)
    case anything
}

/// One member of an object: its name, its form, and its meaning.
package struct Member: Sendable {
    package let name: StaticString
    package let schema: Schema
    package let summary: String
    package let isOptional: Bool

    package init(_ name: StaticString, _ schema: Schema, _ summary: String, optional: Bool = false) {
        self.name = name
        self.schema = schema
        self.summary = summary
        isOptional = optional
    }
}

extension Schema {
    /// Writes the schema; `summary` becomes its description.
    package func write(to writer: inout JSONWriter, summary: String? = nil) {
        writer.object { writer in
            // A reference has no other keywords: draft 7 ignores keywords beside it.
            if case .reference = self {} else { writer.member("description", ifPresent: summary) }
            writeKeywords(to: &writer)
        }
    }

    private func writeKeywords(to writer: inout JSONWriter) {
        switch self {
        case .string: writer.member("type", "string")
        case .boolean: writer.member("type", "boolean")
        case .null: writer.member("type", "null")
        case .integer: writer.member("type", "integer")
        case .number: writer.member("type", "number")
        case .unsigned:
            writer.member("type", "integer")
            writer.member("minimum", 0)
        case .seconds:
            writer.member("type", "number")
            writer.member("minimum", 0)
        case .timestamp:
            writer.member("type", "string")
            writer.member("format", "date-time")
        case .secret:
            writer.member("type", "string")
            writer.member("minLength", 1)
        case .base64:
            writer.member("type", "string")
            writer.member("contentEncoding", "base64")
        case .word(let words):
            writer.member("type", "string")
            writer.array("enum") { writer in
                for word in words { writer.string(word) }
            }
        case .array(let element):
            writer.member("type", "array")
            writer.member("items", element)
        case .map(let value):
            writer.member("type", "object")
            writer.member("additionalProperties", value)
        case .object(let members):
            writeObject(members, to: &writer)
        case .closedObject(let members):
            writeObject(members, to: &writer)
            writer.member("additionalProperties", false)
        case .oneOf(let choices):
            writer.array("oneOf") { writer in
                for choice in choices { choice.write(to: &writer) }
            }
        case .orNull(let schema):
            writer.array("oneOf") { writer in
                schema.write(to: &writer)
                Schema.null.write(to: &writer)
            }
        case .reference(let name):
            writer.member("$ref", "#/components/schemas/\(name)")
        case .anything:
            break
        }
    }

    private func writeObject(_ members: [Member], to writer: inout JSONWriter) {
        writer.member("type", "object")
        writer.array("required") { writer in
            for member in members where !member.isOptional { writer.string("\(member.name)") }
        }
        writer.object("properties") { writer in
            for member in members {
                writer.key(member.name)
                member.schema.write(to: &writer, summary: member.summary)
            }
        }
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ schema: Schema) {
        key(name)
        schema.write(to: &self)
    }
}
