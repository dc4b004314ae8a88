package import JunctionJSON

/// Reads the members of an object from the wire by name. An error names the invalid member.
///
/// An optional member that is `null` counts as absent.
package struct Members {
    private let object: JSONValue
    private let path: String

    /// Reads a result or a nested value. Unknown members are ignored, because a newer peer may send more members.
    ///
    /// - Parameter name: the name of the value in an error, if it has no path.
    package init(_ value: JSONValue, at path: String, named name: String? = nil) throws(WireMismatch) {
        guard value.kind == .object else { throw WireMismatch(name ?? path, "must be an object") }
        object = value
        self.path = path
    }

    /// Reads the parameters of a call. A member that the method does not take is an error: it may be a spelling
    /// mistake, and would be ignored silently.
    package init(params: JSONValue, allowing known: [Member], because reason: String) throws(WireMismatch) {
        guard params.kind == .object else { throw WireMismatch("params", "must be an object: parameters go by name") }
        try params.withView { (params) throws(WireMismatch) in
            for (name, _) in params.members where !known.contains(where: { name.stringEquals($0.name) }) {
                throw WireMismatch(quotable(name.string ?? ""), "is not a parameter of this \(reason)")
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

    /// Returns whether the member is present, even if it is `null`.
    package func has(_ name: StaticString) -> Bool { object[name] != nil }

    /// Returns the error for a member.
    package func mismatch(_ name: StaticString, _ expectation: String) -> WireMismatch {
        WireMismatch(path.isEmpty ? "\(name)" : "\(path).\(name)", expectation)
    }

    func required<Value>(_ name: StaticString, _ form: Form<Value>) throws(WireMismatch) -> Value {
        guard let value = self[name] else { throw mismatch(name, "is missing: it \(form.expectation)") }
        guard let read = try form.read(value) else { throw mismatch(name, form.expectation) }
        return read
    }

    /// Reads a member that may be absent or `null`.
    func optional<Value>(_ name: StaticString, _ form: Form<Value>) throws(WireMismatch) -> Value? {
        guard let value = self[name] else { return nil }
        guard let read = try form.read(value) else { throw mismatch(name, form.expectation) }
        return read
    }

    /// Reads a secret, which never becomes a `String`.
    package func secret(_ name: StaticString) throws(WireMismatch) -> SecretText {
        try required(name, .secret)
    }

    /// Reads the sequence number of a signature.
    package func sequence(_ name: StaticString) throws(WireMismatch) -> UInt64 {
        try required(name, .decimal)
    }
}

/// Returns a name from the wire, shortened and in printable ASCII, for an error message.
func quotable(_ text: String) -> String {
    let plain = text.unicodeScalars.prefix(40).map { $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F ? $0 : "?" }
    return String(String.UnicodeScalarView(plain)) + (plain.count < text.unicodeScalars.count ? "…" : "")
}

// Writing optional members.
extension JSONWriter {
    package mutating func member(_ name: StaticString, ifPresent text: String?) {
        if let text { member(name, text) }
    }

    package mutating func member(_ name: StaticString, ifPresent number: Double?) {
        if let number { member(name, number) }
    }
}
