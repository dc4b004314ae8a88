package import JunctionJSON

/// Reads the lines of one connection, and reuses its memory for every line.
package struct MessageReader {
    /// The deepest nesting of a message.
    package static let deepestNesting = 128

    private let reader = JSONReader(maximumDepth: MessageReader.deepestNesting)

    package init() {}

    /// Parses a line. This never fails: the returned message contains the error for an invalid line.
    package func read(_ line: UnsafeRawBufferPointer) -> Incoming {
        do {
            let value = try reader.read(line)
            guard value.kind == .array, !value.elements.isEmpty else { return .single(Message(value)) }
            return .batch(Batch(value.elements))
        } catch {
            return .single(.invalid(.unparsable(error), id: .null))
        }
    }
}

extension MessageReader {
    /// Wipes the last line when no value of it exists any more, because it may contain a credential.
    package func forget() { reader.forget() }
}

extension Message {
    /// Parses one message according to JSON-RPC 2.0, sections 4 and 5. Members that the specification does not define
    /// are ignored.
    package init(_ value: JSONValue) {
        self = value.withView { view in Message(view, of: value) }
    }

    private init(_ view: JSONView, of value: JSONValue) {
        guard view.kind == .object else {
            self = .invalid(.notAMessage("a message is an object"), id: .null)
            return
        }
        let envelope = EnvelopeMembers(view)
        let id = envelope.id.flatMap { RequestID(value.keep($0)) }
        if envelope.method == nil, envelope.result != nil || envelope.error != nil {
            // An answer is never answered, even if it is invalid. Without a usable id, it matches no request.
            self = .answer(Response(id: id ?? .null, outcome: envelope.outcome(in: value)))
        } else if let fault = envelope.fault {
            self = .invalid(.notAMessage(fault), id: id ?? .null)
        } else if let name = envelope.method {
            let call = Call(
                name: value.keep(name),
                params: envelope.params.flatMap { $0.isVacant ? nil : value.keep($0) }
            )
            self = if let id { .request(call, id: id) } else { .notification(call) }
        } else {
            self = .invalid(.notAMessage("'method' is missing"), id: id ?? .null)
        }
    }
}

/// The members that the specification defines, found in one pass.
private struct EnvelopeMembers {
    var version: JSONView?
    var id: JSONView?
    var method: JSONView?
    var params: JSONView?
    var result: JSONView?
    var error: JSONView?

    init(_ object: JSONView) {
        for (name, value) in object.members {
            if name.stringEquals("jsonrpc") {
                version = value
            } else if name.stringEquals("id") {
                id = value
            } else if name.stringEquals("method") {
                method = value
            } else if name.stringEquals("params") {
                params = value
            } else if name.stringEquals("result") {
                result = value
            } else if name.stringEquals("error") {
                error = value
            }
        }
    }

    /// The rule that the call violates; `nil` if it is valid.
    var fault: String? {
        switch id?.kind {
        case .bool, .array, .object: return "'id' is a string, a number or null"
        case .string, .number, .null, nil: break
        }
        guard let version, version.stringEquals("2.0") else { return "'jsonrpc' is \"2.0\"" }
        if let method, method.kind != .string { return "'method' is a string" }
        switch params?.kind {
        case .bool, .number, .string: return "'params' is an object"
        case .null, .array, .object, nil: return nil
        }
    }

    func outcome(in value: JSONValue) -> Result<JSONValue, WireError> {
        if let error, !error.isNull || result == nil { return .failure(WireError(reading: value.keep(error))) }
        guard let result else { return .failure(.unreadable) }
        return .success(value.keep(result))
    }
}

extension JSONView {
    /// Whether the value means that there are no parameters.
    fileprivate var isVacant: Bool {
        switch kind {
        case .null: true
        case .object: members.isEmpty
        case .array: elements.isEmpty
        case .bool, .number, .string: false
        }
    }
}
