import JunctionJSON
import JunctionText

/// The form of one kind of value on the wire: how it is read, written and described.
struct Form<Value>: Sendable {
    let schema: Schema
    /// The requirement for a value, for errors: "must be a string".
    let expectation: String
    /// Reads a value; `nil` if it does not meet the requirement.
    let read: @Sendable (JSONValue) throws(WireMismatch) -> Value?
    let write: @Sendable (Value, inout JSONWriter) -> Void

    init(
        _ schema: Schema,
        _ expectation: String,
        read: @escaping @Sendable (JSONValue) throws(WireMismatch) -> Value?,
        write: @escaping @Sendable (Value, inout JSONWriter) -> Void
    ) {
        self.schema = schema
        self.expectation = expectation
        self.read = read
        self.write = write
    }
}

extension Form where Value == String {
    /// Any text, including the empty one.
    static var string: Form { Form(.string, "must be a string", read: { $0.string }, write: { $1.string($0) }) }

    /// One of these texts. Another text, which a newer peer may use, is kept.
    static func string(of known: [String]) -> Form {
        Form(.word(known), string.expectation, read: string.read, write: string.write)
    }

    /// The name of a user or a place. Its length is limited, because it is stored or sent on.
    static var name: Form {
        string("must be a string of 1 to \(longestName) bytes") { (1...longestName).contains($0.utf8.count) }
    }

    /// A name that may be empty.
    static var anyName: Form {
        string("must be a string of at most \(longestName) bytes") { $0.utf8.count <= longestName }
    }

    /// The longest name, in bytes of UTF-8. The names of the providers are far shorter.
    private static var longestName: Int { 1_024 }

    /// A text that is not empty.
    static var text: Form { string("must be a string that is not empty") { !$0.isEmpty } }

    private static func string(
        _ expectation: String,
        if isValid: @escaping @Sendable (String) -> Bool
    ) -> Form {
        Form(
            .string,
            expectation,
            read: { $0.string.flatMap { isValid($0) ? $0 : nil } },
            write: { $1.string($0) }
        )
    }

    /// One of these non-empty texts. Another text, which a newer peer may use, is kept.
    static func text(of known: [String]) -> Form {
        Form(.word(known), text.expectation, read: text.read, write: text.write)
    }
}

extension Form where Value == [String] {
    /// A list of texts. Elements of another kind are skipped.
    static var texts: Form {
        Form(
            .array(.string),
            "must be an array of strings",
            read: { $0.elements.compactMap(\.string) },
            write: { (texts, writer) in
                writer.array { writer in
                    for text in texts { writer.string(text) }
                }
            }
        )
    }
}

extension Form where Value == SecretText {
    /// A secret, which never becomes a `String`.
    static var secret: Form {
        Form(
            .secret,
            "must be a string that is not empty",
            read: { SecretText(reading: $0) },
            write: { $1.string(secret: $0.box) }
        )
    }
}

extension Form where Value: WireWord {
    /// One of these words, or a word of a newer peer.
    static func word(_ known: [Value]) -> Form {
        let text = Form<String>.text
        return Form(
            .word(known.map(\.rawValue)),
            text.expectation,
            read: { (value) throws(WireMismatch) in try text.read(value).map(Value.init(rawValue:)) },
            write: { $1.string($0.rawValue) }
        )
    }
}

extension Form where Value: RawRepresentable & CaseIterable & SendableMetatype, Value.RawValue == String {
    /// One of these words, and no other: an unknown parameter value would be ignored silently.
    static var oneOf: Form {
        let words = Value.allCases.map(\.rawValue)
        return Form(
            .word(words),
            "must be \(words.map { "'\($0)'" }.joined(separator: " or "))",
            read: { $0.string.flatMap(Value.init(rawValue:)) },
            write: { $1.string($0.rawValue) }
        )
    }
}

extension Form {
    /// A list of these words, or words of a newer peer. Elements of another kind are skipped.
    static func words<Word: WireWord>(_ known: [Word]) -> Form where Value == [Word] {
        Form(
            .array(.word(known.map(\.rawValue))),
            "must be an array of strings",
            read: { $0.elements.compactMap { $0.string.map(Word.init(rawValue:)) } },
            write: { (words, writer) in
                writer.array { writer in
                    for word in words { writer.string(word.rawValue) }
                }
            }
        )
    }

    static func list<Element: WireValue>(_: Element.Type) -> Form where Value == [Element] {
        Form(
            .array(Element.schema),
            "must be an array",
            read: { (value) throws(WireMismatch) in
                guard value.kind == .array else { return nil }
                var list: [Element] = []
                for element in value.elements { list.append(try Element(reading: element)) }
                return list
            },
            write: { (list, writer) in
                writer.array { writer in
                    for element in list { element.write(to: &writer) }
                }
            }
        )
    }
}

extension Form where Value: WireValue {
    static var object: Form {
        Form(
            Value.schema,
            "must be an object",
            read: { (value) throws(WireMismatch) in try Value(reading: value) },
            write: { $0.write(to: &$1) }
        )
    }
}

extension Form where Value == Timestamp {
    static var timestamp: Form {
        Form(
            .timestamp,
            "must be a time of RFC 3339, like 2026-11-21T06:20:34Z",
            read: { $0.string.flatMap(Timestamp.init) },
            write: { $1.string($0.description) }
        )
    }
}

extension Form where Value == Double {
    /// A duration in seconds.
    static var seconds: Form {
        Form(
            .seconds,
            "must be a number of seconds, zero or more",
            read: { $0.double.flatMap { $0 >= 0 ? $0 : nil } },
            write: { $1.double($0) }
        )
    }
}

extension Form where Value == UInt64 {
    /// A whole number that is not negative.
    static var unsigned: Form {
        Form(
            .unsigned,
            "must be a whole number, zero or more",
            read: { $0.unsigned },
            write: { $1.integer($0) }
        )
    }

    /// A whole number from 0 to 2⁶⁴−1. It is written as a string of decimal digits, because many JSON readers round
    /// large numbers. It is read from a string or a number.
    static var decimal: Form {
        Form(
            .oneOf([.string, .unsigned]),
            "must be a whole number from 0 to \(UInt64.max), or a string with its decimal digits",
            read: { value in
                if value.kind == .number { return value.unsigned }
                guard let text = value.string, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
                return UInt64(text)
            },
            write: { $1.string(String($0)) }
        )
    }
}

extension Form where Value == Int {
    /// A whole number that the description declares as not negative.
    static var count: Form {
        Form(
            .unsigned,
            "must be a whole number",
            read: { $0.integer.flatMap(Int.init(exactly:)) },
            write: { $1.integer($0) }
        )
    }
}

extension Form where Value == Bool {
    static var boolean: Form {
        Form(.boolean, "must be true or false", read: { $0.bool }, write: { $1.bool($0) })
    }

    /// The value true, and no other.
    static var yes: Form {
        Form(.boolean, "must be true", read: { $0.bool == true ? true : nil }, write: { $1.bool($0) })
    }
}
