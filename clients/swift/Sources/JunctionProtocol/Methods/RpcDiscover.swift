package import JunctionJSON

/// Returns the OpenRPC document.
package enum RpcDiscover: MethodDefinition {
    package typealias Params = NoParams

    /// The document, which is not decoded here.
    package struct Answer: WireValue, Hashable {
        package var json: [UInt8]

        package init(reading value: JSONValue) {
            json = value.rawText
        }

        package func write(to writer: inout JSONWriter) {
            writer.raw(json)
        }

        package static let schema = Schema.anything
    }

    package static let name: StaticString = "rpc.discover"
    package static let capability: Capability? = nil
    package static let onlyAnswers = true
    package static let summary = "Hands out this document"
}
