package import JunctionSecret

/// Functions that write the name and the value of a member in one call.
extension JSONWriter {
    /// Writes an object whose members `body` writes.
    package mutating func object<Failure: Error>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginObject()
        try body(&self)
        endObject()
    }

    /// Writes an array whose values `body` writes.
    package mutating func array<Failure: Error>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginArray()
        try body(&self)
        endArray()
    }

    /// Writes a member that is an object.
    package mutating func object<Failure: Error>(
        _ name: StaticString,
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        key(name)
        try object(body)
    }

    /// Writes a member that is an array.
    package mutating func array<Failure: Error>(
        _ name: StaticString,
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        key(name)
        try array(body)
    }

    /// Writes a member that is a string, or `null`.
    package mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a member that is a secret.
    package mutating func member(_ name: StaticString, secret: SharedSecret) {
        key(name)
        string(secret: secret)
    }

    /// Writes a member that is a whole number, or `null`.
    package mutating func member<Whole: BinaryInteger>(_ name: StaticString, _ value: Whole?) {
        key(name)
        if let value { integer(value) } else { null() }
    }

    /// Writes a member that is a number, or `null`.
    package mutating func member(_ name: StaticString, _ value: Double?) {
        key(name)
        if let value { double(value) } else { null() }
    }

    /// Writes a member that is `true` or `false`.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }
}
