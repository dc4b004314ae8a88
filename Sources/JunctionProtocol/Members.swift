package import JunctionJSON

/// The members of an object from the wire, taken by name; what does not fit is refused with that name.
///
/// An optional member that is `null` counts as absent.
package struct Members {
    private let object: JSONValue
    private let path: String

    /// The members of a result or of a nested value. Members that nobody asks for are ignored: a newer peer may
    /// say more than we know.
    package init(_ value: JSONValue, at path: String) throws(WireMismatch) {
        guard value.kind == .object else { throw WireMismatch(path, "must be an object") }
        object = value
        self.path = path
    }

    /// The members of a call's parameters. A member that the method does not take is refused: it would be a
    /// spelling mistake that silently does nothing.
    package init<Params: WireParams>(params: JSONValue, of type: Params.Type) throws(WireMismatch) {
        try self.init(params: params, allowing: Params.members, because: "method")
    }

    /// The members of a call's parameters that may only be these.
    package init(params: JSONValue, allowing known: [Member], because reason: String) throws(WireMismatch) {
        guard params.kind == .object else { throw WireMismatch("params", "must be an object: parameters go by name") }
        try params.lend { (params) throws(WireMismatch) in
            for (name, _) in params.members where !known.contains(where: { name.stringEquals($0.name) }) {
                throw WireMismatch(quotable(name), "is not a parameter of this \(reason)")
            }
        }
        object = params
        path = ""
    }

    /// The member, unless it is absent or `null`.
    package subscript(_ name: StaticString) -> JSONValue? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    /// Whether the member is there, be it `null`.
    package func has(_ name: StaticString) -> Bool { object[name] != nil }

    /// Complains about a member.
    package func mismatch(_ name: StaticString, _ expectation: String) -> WireMismatch {
        WireMismatch(path.isEmpty ? "\(name)" : "\(path).\(name)", expectation)
    }

    /// Reads a member that has to be there.
    package func required<Value>(
        _ name: StaticString,
        _ expectation: String,
        _ read: (JSONValue) -> Value?
    ) throws(WireMismatch) -> Value {
        guard let value = self[name] else { throw mismatch(name, "is missing: it \(expectation)") }
        guard let read = read(value) else { throw mismatch(name, expectation) }
        return read
    }

    /// Reads a member that may be absent or `null`.
    package func optional<Value>(
        _ name: StaticString,
        _ expectation: String,
        _ read: (JSONValue) -> Value?
    ) throws(WireMismatch) -> Value? {
        guard let value = self[name] else { return nil }
        guard let read = read(value) else { throw mismatch(name, expectation) }
        return read
    }
}

// The types that occur everywhere.
extension Members {
    /// A text that says something.
    package func text(_ name: StaticString) throws(WireMismatch) -> String {
        try required(name, "must be a string that is not empty", Self.text)
    }

    /// A text that says something, if it is there.
    package func optionalText(_ name: StaticString) throws(WireMismatch) -> String? {
        try optional(name, "must be a string that is not empty", Self.text)
    }

    /// A text that says something, or an explicit `null`: leaving it out must not mean *nobody*.
    package func nullableText(_ name: StaticString) throws(WireMismatch) -> String? {
        guard has(name) else { throw mismatch(name, "is missing: it must be a string, or null for nobody") }
        return try optionalText(name)
    }

    /// Any text, an empty one included.
    package func string(_ name: StaticString) throws(WireMismatch) -> String {
        try required(name, "must be a string") { $0.string }
    }

    /// Any text, if it is there.
    package func optionalString(_ name: StaticString) throws(WireMismatch) -> String? {
        try optional(name, "must be a string") { $0.string }
    }

    /// A secret, which never becomes a `String`.
    package func secret(_ name: StaticString) throws(WireMismatch) -> SecretText {
        try required(name, "must be a string that is not empty", SecretText.init(reading:))
    }

    /// A secret, which never becomes a `String`, if it is there.
    package func optionalSecret(_ name: StaticString) throws(WireMismatch) -> SecretText? {
        try optional(name, "must be a string that is not empty", SecretText.init(reading:))
    }

    /// A whole number.
    package func integer(_ name: StaticString) throws(WireMismatch) -> Int64 {
        try required(name, "must be a whole number") { $0.integer }
    }

    /// A whole number that is not negative.
    package func unsigned(_ name: StaticString) throws(WireMismatch) -> UInt64 {
        try required(name, "must be a whole number, zero or more") { $0.unsigned }
    }

    /// A length of time.
    package func seconds(_ name: StaticString) throws(WireMismatch) -> Double {
        try required(name, Self.secondsExpectation, Self.seconds)
    }

    /// A length of time, if it is there.
    package func optionalSeconds(_ name: StaticString) throws(WireMismatch) -> Double? {
        try optional(name, Self.secondsExpectation, Self.seconds)
    }

    /// A point in time.
    package func timestamp(_ name: StaticString) throws(WireMismatch) -> Timestamp {
        try required(name, Self.timestampExpectation) { $0.string.flatMap(Timestamp.init) }
    }

    /// A point in time, if it is there.
    package func optionalTimestamp(_ name: StaticString) throws(WireMismatch) -> Timestamp? {
        try optional(name, Self.timestampExpectation) { $0.string.flatMap(Timestamp.init) }
    }

    private static let secondsExpectation = "must be a number of seconds, zero or more"
    private static let timestampExpectation = "must be a time of RFC 3339, like 2026-11-21T06:20:34Z"

    private static func text(_ value: JSONValue) -> String? {
        value.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func seconds(_ value: JSONValue) -> Double? {
        value.double.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// A name from the wire, short and plain enough for an error message.
private func quotable(_ name: JSONView) -> String {
    let text = name.string ?? ""
    let plain = text.unicodeScalars.prefix(40).map { $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F ? $0 : "?" }
    return String(String.UnicodeScalarView(plain)) + (plain.count < text.unicodeScalars.count ? "…" : "")
}

// Writing the members that are there.
extension JSONWriter {
    package mutating func member(_ name: StaticString, ifPresent text: String?) {
        if let text { member(name, text) }
    }

    package mutating func member(_ name: StaticString, ifPresent number: Double?) {
        if let number { member(name, number) }
    }

    package mutating func member(_ name: StaticString, ifPresent secret: SecretText?) {
        if let secret { member(name, secret: secret.box) }
    }

    package mutating func member(_ name: StaticString, _ time: Timestamp?) {
        member(name, time?.description)
    }
}
