package import JunctionJSON

/// The members of an object, listed once. The list reads the object, writes it, and describes it.
///
///     static let fields = Fields(
///         at: "termination",
///         Termination.init(code:message:at:),
///         Field("code", \.code, .string, "the provider's code"),
///         Field("message", \.message, .string, else: "", "what the provider said about it"),
///         Field("at", \.at, .timestamp, "when the daemon learnt of it")
///     )
///
/// To add a member, add a line, in the order of the initializer's parameters.
package final class Fields<Root>: Sendable {
    /// The members as the OpenRPC document describes them.
    let members: [Member]
    private let place: String?
    private let taken: @Sendable (Members) throws(WireMismatch) -> Root
    private let put: @Sendable (Root, inout JSONWriter) -> Void

    /// Makes the fields of a struct.
    ///
    /// - Parameters:
    ///   - place: the name of the object in errors; `nil` for the parameters of a method, which must not have other
    ///     members.
    ///   - make: makes the object from the fields' values, in their order.
    init<each Value>(
        at place: String? = nil,
        _ make: @escaping @Sendable (repeat each Value) -> Root,
        _ field: repeat Field<Root, each Value>
    ) {
        var members: [Member] = []
        var writes: [@Sendable (Root, inout JSONWriter) -> Void] = []
        for field in repeat each field {
            members += field.members
            writes.append(field.write)
        }
        let fields = (repeat each field)
        self.members = members
        self.place = place
        let all = writes
        taken = { (members) throws(WireMismatch) in make(repeat try (each fields).read(members)) }
        put = { (root, writer) in
            for write in all { write(root, &writer) }
        }
    }

    /// Makes the fields of an enum's case, which are its associated values.
    ///
    /// - Parameters:
    ///   - make: makes the case.
    ///   - values: returns the associated values; `nil` for every other case.
    init<each Value>(
        of make: @escaping @Sendable (repeat each Value) -> Root,
        _ field: repeat Field<each Value, each Value>,
        values: @escaping @Sendable (Root) -> (repeat each Value)?
    ) {
        var members: [Member] = []
        for field in repeat each field { members += field.members }
        let fields = (repeat each field)
        self.members = members
        place = nil
        taken = { (members) throws(WireMismatch) in make(repeat try (each fields).read(members)) }
        put = { (root, writer) in
            guard let values = values(root) else { preconditionFailure("The fields of another case are written") }
            repeat (each fields).write(each values, &writer)
        }
    }

    /// Makes the empty fields of an enum's case without associated values.
    convenience init(_ make: @escaping @Sendable () -> Root) {
        self.init(of: make, values: { _ in () })
    }

    func read(_ value: JSONValue) throws(WireMismatch) -> Root {
        let members =
            if let place {
                try Members(value, at: place)
            } else {
                try Members(params: value, allowing: members, because: "method")
            }
        return try taken(members)
    }

    /// Reads these fields from an object that also has others.
    func read(among members: Members) throws(WireMismatch) -> Root {
        try taken(members)
    }

    func write(_ root: Root, to writer: inout JSONWriter) {
        put(root, &writer)
    }
}

/// An object that one list of fields reads, writes and describes.
package protocol WireObject: WireValue {
    static var fields: Fields<Self> { get }
}

extension WireObject {
    package init(reading value: JSONValue) throws(WireMismatch) {
        self = try Self.fields.read(value)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { Self.fields.write(self, to: &$0) }
    }

    package static var schema: Schema { .object(fields.members) }
}

extension WireParams where Self: WireObject {
    package static var members: [Member] { fields.members }
    package static var schema: Schema { .object(fields.members) }
}
