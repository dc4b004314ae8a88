package import JunctionJSON

/// A value on the wire: both sides read and write it, and the OpenRPC document describes it.
package protocol WireValue: Sendable {
    /// Reads the value. An error names the invalid member.
    init(reading value: JSONValue) throws(WireMismatch)

    func write(to writer: inout JSONWriter)

    /// The schema in the OpenRPC document.
    static var schema: Schema { get }
}

/// The parameters of a method: an object with only the listed members.
package protocol WireParams: WireValue {
    /// All possible members.
    static var members: [Member] { get }
}

extension WireParams {
    package static var schema: Schema { .object(members) }

    /// Reads the parameters of a call. Absent parameters equal an empty object.
    package init(reading params: JSONValue?) throws(WireMismatch) {
        try self.init(reading: params ?? JSONValue.emptyObject)
    }
}

/// One method: its name, its capability, its parameters and its answer.
package protocol MethodDefinition: Sendable {
    associatedtype Params: WireParams
    associatedtype Answer: WireValue

    static var name: StaticString { get }
    /// The capability that the caller needs; `nil` if every caller may call the method.
    static var capability: Capability? { get }
    /// What the method does, in a sentence for people.
    static var summary: String { get }
    /// The errors of the method, in addition to those that every method shares.
    static var errors: [ErrorCode] { get }
    /// Example calls for the document.
    static var examples: [MethodExample<Self>] { get }
    /// Whether the method has no effect but its answer. As a notification it is not carried out.
    static var onlyAnswers: Bool { get }
    /// Whether two calls have the same effect as one, so that a client may repeat the call after a lost connection.
    /// After a question of the daemon, the call must not be repeated: the daemon may have acted on the answer.
    static func isRepeatable(_ params: Params) -> Bool
}

extension MethodDefinition {
    package static var errors: [ErrorCode] { [] }
    package static var onlyAnswers: Bool { false }
    package static func isRepeatable(_ params: Params) -> Bool { onlyAnswers }

    /// Returns the error for a name in the query of an HTTP request that is not a parameter, or that occurs twice.
    package static func mismatch(inQuery names: [String]) -> WireMismatch? {
        for (index, name) in names.enumerated() {
            guard Params.members.contains(where: { "\($0.name)" == name }) else {
                return WireMismatch(quotable(name), "is not a parameter of this method")
            }
            if names[..<index].contains(name) { return WireMismatch(name, "is given more than once") }
        }
        return nil
    }

    /// Whether a parameter can be a secret. Programs do not take such parameters from their arguments, which every user
    /// can read.
    package static var takesSecret: Bool {
        Params.members.contains { if case .secret = $0.schema { true } else { false } }
    }
}

extension JSONValue {
    /// The parameters of a call without parameters.
    static let emptyObject = (try? JSONValue.parse(Array("{}".utf8)))!
}

/// The parameters of a method that takes none.
package struct NoParams: WireParams, Hashable {
    package static let members: [Member] = []

    package init() {}

    package init(reading value: JSONValue) throws(WireMismatch) {
        _ = try Members(params: value, allowing: Self.members, because: "method")
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { _ in }
    }
}

/// The answer of a method without a result: `null`.
package struct NoAnswer: WireValue, Hashable {
    package static let schema = Schema.null

    package init() {}

    /// Reads any value, because a newer daemon may answer with more.
    package init(reading value: JSONValue) {}

    package func write(to writer: inout JSONWriter) {
        writer.null()
    }
}
