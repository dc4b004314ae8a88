import JunctionJSON

/// How one kind of value stands on the wire: how it is read, written and described.
struct Form<Value>: Sendable {
    let schema: Schema
    /// What a value has to be, for complaints: "must be a string".
    let expectation: String
    /// Nothing, when the value is not what it has to be.
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
    /// Any text, an empty one included.
    static var string: Form { Form(.string, "must be a string", read: { $0.string }, write: { $1.string($0) }) }

    /// One of these; another one, which a newer peer may know, is kept.
    static func string(of known: [String]) -> Form {
        Form(.word(known), string.expectation, read: string.read, write: string.write)
    }

    /// What a user or a place is called; it is kept or sent on, and a name is no place for a file.
    static var name: Form {
        Form(
            .string,
            "must be a string of 1 to \(Self.longestName) bytes",
            read: { $0.string.flatMap { (1...Self.longestName).contains($0.utf8.count) ? $0 : nil } },
            write: { $1.string($0) }
        )
    }

    /// The same, or nothing in it.
    static var anyName: Form {
        Form(
            .string,
            "must be a string of at most \(Self.longestName) bytes",
            read: { $0.string.flatMap { $0.utf8.count <= Self.longestName ? $0 : nil } },
            write: { $1.string($0) }
        )
    }

    /// In bytes of UTF-8; no vendor's names come near it.
    private static var longestName: Int { 1_024 }

    /// A text that says something.
    static var text: Form {
        Form(
            .string,
            "must be a string that is not empty",
            read: { $0.string.flatMap { $0.isEmpty ? nil : $0 } },
            write: { $1.string($0) }
        )
    }
}

extension Form where Value == String {
    /// One of these; another one, which a newer peer may know, is kept.
    static func text(of known: [String]) -> Form {
        Form(.word(known), text.expectation, read: text.read, write: text.write)
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
    /// A word, of these or of a newer peer's.
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
    /// One of these words, and no other: a parameter that is not known would silently do nothing.
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
    /// Words, of these or of a newer peer's; what is no word is passed over.
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

    /// Objects of one kind.
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
    /// An object with fields of its own, which complains by itself.
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
    /// A point in time.
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
    /// A length of time.
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

    /// The same as a string of decimal digits, because JSON numbers lose some.
    static var decimal: Form {
        Form(
            .string,
            "must be a string of decimal digits",
            read: { value in
                guard let text = value.string, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                return UInt64(text)
            },
            write: { $1.string(String($0)) }
        )
    }
}

extension Form where Value == Int {
    /// A whole number that is said never to be negative.
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
    /// Yes or no.
    static var boolean: Form {
        Form(.boolean, "must be true or false", read: { $0.bool }, write: { $1.bool($0) })
    }

    /// Yes, and nothing else.
    static var yes: Form {
        Form(.boolean, "must be true", read: { $0.bool == true ? true : nil }, write: { $1.bool($0) })
    }
}
