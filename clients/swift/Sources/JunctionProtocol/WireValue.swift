package import JunctionJSON

/// Something with a place on the wire: both sides read and write it, and the OpenRPC document describes it.
package protocol WireValue: Sendable {
    /// Reads the value, and names the member that does not fit.
    init(reading value: JSONValue) throws(WireMismatch)

    /// Writes the value.
    func write(to writer: inout JSONWriter)

    /// What the OpenRPC document says about it.
    static var schema: Schema { get }
}

/// The parameters of a method: an object without any member that is not listed.
package protocol WireParams: WireValue {
    /// Every member that there may be.
    static var members: [Member] { get }
}

extension WireParams {
    package static var schema: Schema { .object(members) }

    /// Reads what came with a call; absent is the same as an empty object.
    package init(reading params: JSONValue?) throws(WireMismatch) {
        try self.init(reading: params ?? JSONValue.emptyObject)
    }
}

/// One method: its name, who may call it, what goes in and what comes out.
package protocol MethodDefinition: Sendable {
    associatedtype Params: WireParams
    associatedtype Answer: WireValue

    static var name: StaticString { get }
    /// What the caller must be allowed to do; `nil` where everybody may call.
    static var capability: Capability? { get }
    /// What it does, in a sentence for people.
    static var summary: String { get }
    /// What it may be refused with, beside the errors that every method shares.
    static var errors: [ErrorCode] { get }
    /// Calls as they may go, for whoever reads the document.
    static var examples: [MethodExample<Self>] { get }
    /// Whether asking twice is the same as asking once, so that a client may ask again after a lost connection. Whatever
    /// the daemon asks back ends that: it may have acted on the answer.
    static func isRepeatable(_ params: Params) -> Bool
}

extension MethodDefinition {
    package static var errors: [ErrorCode] { [] }
    package static func isRepeatable(_ params: Params) -> Bool { false }
}

extension JSONValue {
    /// The parameters of a call that has none.
    static let emptyObject = (try? JSONValue.parse(Array("{}".utf8)))!
}

/// The parameters of a method that takes none.
package struct NoParams: WireParams, Hashable {
    package static let members: [Member] = []

    package init() {}

    package init(reading value: JSONValue) throws(WireMismatch) {
        _ = try Members(params: value, of: Self.self)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { _ in }
    }
}

/// The answer of a method that has nothing to say: `null`.
package struct NoAnswer: WireValue, Hashable {
    package static let schema = Schema.null

    package init() {}

    /// Reads anything: a daemon that says more some day is still understood.
    package init(reading value: JSONValue) {}

    package func write(to writer: inout JSONWriter) {
        writer.null()
    }
}
