import JunctionJSON

/// One member of an object: its name, where its value is kept, how that stands on the wire, and what it means.
///
/// What stands before the form says what happens where there is nothing: by itself the member has to be there; `orNull:` is
/// written as `null`, and may be left out by the other side; `orNobody:` is `null` in so many words; `ifPresent:` is left out;
/// with an `else:` an older peer may leave it out.
final class Field<Root, Value>: Sendable {
    /// One, but where a value is in whichever of several members suits it.
    let members: [Member]
    let read: @Sendable (Members) throws(WireMismatch) -> Value
    let write: @Sendable (Root, inout JSONWriter) -> Void

    /// A value with rules of its own.
    init(
        _ members: [Member],
        read: @escaping @Sendable (Members) throws(WireMismatch) -> Value,
        write: @escaping @Sendable (Root, inout JSONWriter) -> Void
    ) {
        self.members = members
        self.read = read
        self.write = write
    }

    /// A member that has to be there.
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

    /// A member that an older peer may leave out.
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

    /// A member that is `null` where there is nothing.
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

    /// A member that has to be there, be it `null`: leaving it out must not mean *nobody*.
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

    /// A member that is left out where there is nothing.
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

// The members of an enum's case: each is one of the values that go with it.
extension Field where Root == Value {
    /// A member that has to be there.
    convenience init(_ name: StaticString, _ form: Form<Value>, _ summary: String) {
        self.init(name, { $0 }, form, summary)
    }

    /// A member that is left out where there is nothing.
    convenience init<Wrapped>(_ name: StaticString, ifPresent form: Form<Wrapped>, _ summary: String)
    where Value == Wrapped? {
        self.init(name, { $0 }, ifPresent: form, summary)
    }
}
