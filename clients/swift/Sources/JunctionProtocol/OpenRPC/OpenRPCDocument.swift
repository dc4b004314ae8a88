import JunctionJSON

/// The OpenRPC 1.3.2 description of the interface. It is made from the same table that answers the calls.
package struct OpenRPCDocument: Sendable {
    private let version: String

    /// Makes the description for a daemon of this version.
    package init(version: String) {
        self.version = version
    }

    package func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 1 << 16)
        write(to: &writer)
        return writer.take()
    }

    private func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("openrpc", "1.3.2")
            writer.object("info") { writer in
                writer.member("title", "junctiond")
                writer.member("version", version)
                writer.member("description", Self.description)
                writer.object("license") { $0.member("name", "Apache-2.0") }
            }
            writer.array("methods") { writer in
                for method in Method.allCases { Self.write(method.definition, to: &writer) }
            }
            writer.array("x-daemonCalls") { writer in
                for call in DaemonCall.allCases {
                    Self.write(call.definition, to: &writer, isNotification: !call.isRequest)
                }
            }
            writer.object("components") { writer in
                writer.object("schemas") { Self.writeSchemas(to: &$0) }
                writer.object("errors") { writer in
                    for code in ErrorCode.allCases { Self.write(code, to: &writer) }
                }
            }
        }
    }

    private static let description = """
        JSON-RPC 2.0 over a Unix stream socket, one message a line. Parameters go by name; absent, null, {} and [] are \
        the same. x-capability is what the caller must be allowed to do. x-daemonCalls are the notification and the \
        requests that the daemon sends to a connection that asked for them.
        """

    private static func write<Definition: MethodDefinition>(
        _: Definition.Type,
        to writer: inout JSONWriter,
        isNotification: Bool = false
    ) {
        writer.object { writer in
            writer.member("name", "\(Definition.name)")
            writer.member("summary", Definition.summary)
            writer.member("paramStructure", "by-name")
            writer.array("params") { writer in
                for member in Definition.Params.members { write(member, to: &writer) }
            }
            if !isNotification {
                writer.object("result") { writer in
                    writer.member("name", "result")
                    writer.member("schema", Definition.Answer.schema)
                }
            }
            writer.array("errors") { writer in
                for code in errors(of: Definition.self) {
                    writer.object { $0.member("$ref", "#/components/errors/\(code.word)") }
                }
            }
            if !Definition.examples.isEmpty {
                writer.array("examples") { writer in
                    for example in Definition.examples { example.write(to: &writer) }
                }
            }
            writer.member("x-capability", Definition.capability?.rawValue)
            if case .reference(let name) = Definition.Params.schema {
                writer.object("x-params") { $0.member("$ref", "#/components/schemas/\(name)") }
            }
        }
    }

    private static func write(_ member: Member, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", "\(member.name)")
            writer.member("summary", member.summary)
            writer.member("required", !member.isOptional)
            writer.member("schema", member.schema)
        }
    }

    /// Returns the errors of one method: its own, and those of every method that needs a capability.
    private static func errors<Definition: MethodDefinition>(of _: Definition.Type) -> [ErrorCode] {
        let shared: [ErrorCode] = [.invalidParams, .internalError, .busy]
        return (Definition.capability == nil ? shared : shared + [.permissionDenied]) + Definition.errors
    }

    private static func write(_ code: ErrorCode, to writer: inout JSONWriter) {
        writer.key(code.word)
        writer.object { writer in
            writer.member("code", code.rawValue)
            writer.member("message", code.summary)
            if let kind = code.kind {
                writer.object("data") { $0.member("kind", kind) }
            }
        }
    }

    private static func writeSchemas(to writer: inout JSONWriter) {
        writer.member("Snapshot", .object(Snapshot.fields.members))
        writer.member("Credential", Credential.choiceSchema)
        writer.member(
            "Error",
            .object([
                Member("code", .integer, "the number of the error"),
                Member("message", .string, "what happened, to what, and what to do"),
                Member("data", WireError.dataSchema, "what programs can act on", optional: true),
            ])
        )
    }
}
