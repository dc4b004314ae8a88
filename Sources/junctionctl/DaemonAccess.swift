import JunctionClient
import JunctionProtocol

/// Where the daemon is, and how its answers are shown: what every verb is told.
struct DaemonAccess: Equatable {
    /// Nothing means where it usually is.
    var socket: String?
    /// Answers are shown as they stood on the wire.
    var json = false
    /// How long to wait for an answer, in seconds.
    var timeout: Double?

    /// Where the daemon listens. A path that was given is not repeated in errors: it may be a secret that was meant for
    /// another option.
    var path: SocketPath { socket.map { SocketPath($0, named: "the path given to --socket") } ?? .resolve(nil) }

    /// Until when an answer is waited for that is asked for now.
    var deadline: Deadline { timeout.map { .after(.seconds(min($0, 1e9))) } ?? .never }

    /// Does something that has to be over by the deadline, and says how long that was if it is not.
    func waiting<Result>(_ body: (Deadline) throws(JunctionError) -> Result) throws(JunctionError) -> Result {
        do throws(JunctionError) {
            return try body(deadline)
        } catch {
            throw error.after(timeout)
        }
    }

    /// Asks the daemon one thing.
    func ask<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        answering respond: Connection.Responder = { _ in .failure(.methodNotFound) }
    ) throws -> Connection.Answered<Definition.Answer> {
        try waiting { deadline throws(JunctionError) in
            try Connection.ask(method, params, at: path, by: deadline, answering: respond)
        }
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

extension JunctionError {
    /// A daemon that is stopped or too busy takes longer than it was given.
    fileprivate func after(_ seconds: Double?) -> JunctionError {
        guard kind == .timedOut, let seconds else { return self }
        let words = seconds == seconds.rounded() && seconds < 1e15 ? "\(Int64(seconds))" : "\(seconds)"
        var error = JunctionError(.timedOut, "the daemon did not answer within \(words) s")
        error.advice =
            "it may still do what it was asked, see 'junctionctl status'; give it longer by --timeout, or look whether it runs"
        return error
    }
}
