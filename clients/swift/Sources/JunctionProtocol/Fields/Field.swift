import JunctionJSON

/// One member of an object: its name, its property, its form on the wire, and its meaning.
///
/// The label before the form determines how a missing value is treated. Without a label, the member is required.
/// `orNull:` writes `null`, and the peer may omit the member. `orNobody:` requires an explicit `null`. `ifPresent:`
/// omits the member. With `else:`, an older peer may omit it.
final class Field<Root, Value>: Sendable {
    /// The members: one, or several if the value is in one of several members.
    let members: [Member]
    let read: @Sendable (Members) throws(WireMismatch) -> Value
    let write: @Sendable (Root, inout JSONWriter) -> Void

    /// Makes a field with separate functions for reading and writing.
    init(
        _ members: [Member],
        read: @escaping @Sendable (Members) throws(WireMismatch) -> Value,
        write: @escaping @Sendable (Root, inout JSONWriter) -> Void
    ) {
        self.members = members
        self.read = read
        self.write = write
    }

    init(
        _ name: StaticString,
        _ value: @escaping @Sendable (Root) -> Value,
        _ form: Form<Value>,
        _ summary: String
    ) {
        members = [Member(name, form.schema, summary)]
        read = { (members) throws(WireMismatch) in try members.required(name, form) }
        let write = form.write
        self.write = { (root, writer) in
            writer.key(name)
            write(value(root), &writer)
        }
    }

    /// Makes a member that an older peer may omit.
    init(
        _ name: StaticString,
        _ value: @escaping @Sendable (Root) -> Value,
        _ form: Form<Value>,
        else other: Value,
        _ summary: String
    ) where Value: Sendable {
        members = [Member(name, form.schema, summary)]
        read = { (members) throws(WireMismatch) in try members.optional(name, form) ?? other }
        let write = form.write
        self.write = { (root, writer) in
            writer.key(name)
            write(value(root), &writer)
        }
    }

    /// Makes a member that is written as `null` if there is no value.
    init<Wrapped>(
        _ name: StaticString,
        _ value: @escaping @Sendable (Root) -> Wrapped?,
        orNull form: Form<Wrapped>,
        _ summary: String
    ) where Value == Wrapped? {
        members = [Member(name, .orNull(form.schema), summary)]
        read = { (members) throws(WireMismatch) in try members.optional(name, form) }
        write = Self.orNull(name, value, form)
    }

    /// Makes a required member that may be `null`. Omitting it is an error, so that a missing member never means "no
    /// user".
    init<Wrapped>(
        _ name: StaticString,
        _ value: @escaping @Sendable (Root) -> Wrapped?,
        orNobody form: Form<Wrapped>,
        _ summary: String
    ) where Value == Wrapped? {
        members = [Member(name, .orNull(form.schema), summary)]
        read = { (members) throws(WireMismatch) in
            guard members.has(name) else {
                throw members.mismatch(name, "is missing: it must be a string, or null for nobody")
            }
            return try members.optional(name, form)
        }
        write = Self.orNull(name, value, form)
    }

    private static func orNull<Wrapped>(
        _ name: StaticString,
        _ value: @escaping @Sendable (Root) -> Wrapped?,
        _ form: Form<Wrapped>
    ) -> @Sendable (Root, inout JSONWriter) -> Void {
        let write = form.write
        return { (root, writer) in
            writer.key(name)
            if let value = value(root) { write(value, &writer) } else { writer.null() }
        }
    }

    /// Makes a member that is omitted if there is no value.
    init<Wrapped>(
        _ name: StaticString,
        _ value: @escaping @Sendable (Root) -> Wrapped?,
        ifPresent form: Form<Wrapped>,
        _ summary: String
    ) where Value == Wrapped? {
        members = [Member(name, form.schema, summary, optional: true)]
        read = { (members) throws(WireMismatch) in try members.optional(name, form) }
        let write = form.write
        self.write = { (root, writer) in
            guard let value = value(root) else { return }
            writer.key(name)
            write(value, &writer)
        }
    }
}

// The members of an enum's case: each is one of its associated values.
extension Field where Root == Value {
    convenience init(_ name: StaticString, _ form: Form<Value>, _ summary: String) {
        self.init(name, { $0 }, form, summary)
    }

    /// Makes a member that is omitted if there is no value.
    convenience init<Wrapped>(_ name: StaticString, ifPresent form: Form<Wrapped>, _ summary: String)
    where Value == Wrapped? {
        self.init(name, { $0 }, ifPresent: form, summary)
    }
}
