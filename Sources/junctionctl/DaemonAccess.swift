import JunctionClient
import JunctionProtocol

/// Where the daemon is, and how its answers are shown: what every verb is told.
struct DaemonAccess: Equatable {
    /// Nothing means where it usually is.
    var socket: String?
    /// Answers are shown as they stood on the wire.
    var json = false

    /// Where the daemon listens.
    var path: SocketPath { .resolve(socket) }

    /// Asks the daemon one thing.
    func ask<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        answering respond: Connection.Responder = { _ in .failure(.methodNotFound) }
    ) throws -> Connection.Answered<Definition.Answer> {
        try Connection.ask(method, params, at: path, answering: respond)
    }

    /// Prints what the daemon answered: as it stood on the wire, or in words.
    func show<Value>(_ answer: Connection.Answered<Value>, _ words: (Value) -> String) throws {
        if json {
            try StandardOutput.line(answer.json)
        } else {
            try StandardOutput.line(words(answer.value))
        }
    }
}
