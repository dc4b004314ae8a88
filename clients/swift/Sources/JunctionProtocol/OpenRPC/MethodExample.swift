import JunctionJSON

/// One call as the document shows it, made of the values that a real one is made of: what the types cannot say, it cannot show.
package struct MethodExample<Definition: MethodDefinition>: Sendable {
    /// What it is an example of, in a few words.
    package let name: String
    /// What goes in.
    package let params: Definition.Params
    /// What comes out; nothing for a notification.
    package let answer: Definition.Answer?

    package init(_ name: String, _ params: Definition.Params, gives answer: Definition.Answer?) {
        (self.name, self.params, self.answer) = (name, params, answer)
    }

    /// As an example pairing of OpenRPC: the parameters one by one.
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
    /// A call without parameters.
    package init(_ name: String, gives answer: Definition.Answer) {
        self.init(name, NoParams(), gives: answer)
    }
}
