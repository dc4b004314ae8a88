import FuzzDriver
import JunctionJSON
import JunctionProtocol

/// Parses arbitrary bytes as a JSON-RPC line, decodes the parameters of the called method, and answers.
@main
enum FuzzEnvelope {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let reader = MessageReader()
    switch reader.read(UnsafeRawBufferPointer(start: bytes, count: count)) {
    case .single(let message): check(message)
    case .batch(let batch):
        for message in batch { check(message) }
    }
    return 0
}

/// For any input, the output must be one JSON object.
private func check(_ message: Message) {
    var output: [UInt8] = []
    switch message {
    case .request(let call, let id):
        if let error = refusal(of: call) {
            output.appendError(error, for: id)
        } else {
            output.appendAnswer(of: SessionUnsubscribe.self, NoAnswer(), for: id.detached)
        }
    case .notification(let call):
        _ = refusal(of: call)
        return
    case .invalid(let error, let id):
        output.appendError(error, for: id)
    case .answer(let answer):
        if case .success(let result) = answer.outcome { readAsEverything(result) }
        return
    }
    precondition((try? JSONValue.parse(output))?.kind == .object, "An answer that is not JSON")
}

private func refusal(of call: Call) -> WireError? {
    guard let definition = Method(call.name)?.definition ?? DaemonCall(call.name)?.definition else {
        return .methodNotFound
    }
    do throws(WireMismatch) {
        try definition.roundTrip(call)
        return nil
    } catch {
        return .invalidParams(error)
    }
}

private func readAsEverything(_ result: JSONValue) {
    for method in Method.allCases { method.definition.readAnswer(result) }
    for call in DaemonCall.allCases { call.definition.readAnswer(result) }
}

extension MethodDefinition {
    /// Decoded parameters are encoded again, and must be decoded to the same value.
    fileprivate static func roundTrip(_ call: Call) throws(WireMismatch) {
        let params = try Params(reading: call.params)
        guard reading(params) else { fatalError("Parameters that are not understood again") }
    }

    fileprivate static func readAnswer(_ result: JSONValue) {
        guard let answer = try? Answer(reading: result) else { return }
        guard reading(answer) else { fatalError("An answer that is not understood again") }
    }

    private static func reading<Value: WireValue>(_ value: Value) -> Bool {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.withUnsafeBytes { text in
            (try? JSONValue.parse(text)).flatMap { try? Value(reading: $0) } != nil
        }
    }
}
