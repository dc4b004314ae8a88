import JunctionJSON

/// One example call of the document. It consists of real parameter and answer values, so it cannot show a call that the
/// types do not allow.
package struct MethodExample<Definition: MethodDefinition>: Sendable {
    /// A short name of the example.
    package let name: String
    package let params: Definition.Params
    /// The answer; `nil` for a notification.
    package let answer: Definition.Answer?

    package init(_ name: String, _ params: Definition.Params, gives answer: Definition.Answer?) {
        (self.name, self.params, self.answer) = (name, params, answer)
    }

    /// Writes the example pairing of OpenRPC, with separate parameters.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.array("params") { writer in
                for (name, value) in Self.json(of: params).members {
                    Self.write(name.string ?? "", value.rawText, to: &writer)
                }
            }
            guard let answer else { return }
            writer.key("result")
            Self.write("result", Self.json(of: answer).rawText, to: &writer)
        }
    }

    private static func write(_ name: String, _ value: [UInt8], to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.key("value")
            writer.raw(value)
        }
    }

    private static func json(of value: some WireValue) -> JSONValue {
        var writer = JSONWriter(capacity: 1 << 10)
        value.write(to: &writer)
        guard let json = try? JSONValue.parse(writer.take()) else { preconditionFailure("An example is no JSON") }
        return json
    }
}

extension MethodExample where Definition.Params == NoParams {
    /// Makes an example without parameters.
    package init(_ name: String, gives answer: Definition.Answer) {
        self.init(name, NoParams(), gives: answer)
    }
}
