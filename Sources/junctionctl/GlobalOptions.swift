import ArgumentParser
import JunctionClient
import JunctionProtocol

/// What every verb takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the daemon listens.",
            discussion: """
                By default $JUNCTIOND_SOCKET, then $XDG_RUNTIME_DIR/junctiond/junctiond.sock if it exists, \
                then /run/junctiond/junctiond.sock.
                """,
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    @Flag(help: "Print one JSON document, or one a line where there are several.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "How long to wait for the daemon's answer at most.",
            discussion: "When that is over the exit code is 75. Without it there is no limit.",
            valueName: "seconds"
        )
    )
    var timeout: Double?

    func validate() throws {
        if let timeout { try requireSeconds(timeout, "--timeout") }
    }

    /// The same for whatever does not know the argument parser.
    var daemon: DaemonAccess { DaemonAccess(socket: socket, json: json, timeout: timeout) }

    /// Where the daemon listens.
    var path: SocketPath { daemon.path }

    /// Connects to the daemon, for a conversation.
    func connect() throws -> Connection {
        try daemon.waiting { deadline throws(JunctionError) in try Connection(to: path, by: deadline) }
    }

    /// Asks the daemon one thing.
    func ask<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        answering respond: Connection.Responder = { _ in .failure(.methodNotFound) }
    ) throws -> Connection.Answered<Definition.Answer> {
        try daemon.ask(method, params, answering: respond)
    }

    /// Prints what the daemon answered: as it stood on the wire, or in words.
    func show<Value>(_ answer: Connection.Answered<Value>, _ words: (Value) -> String) throws {
        try daemon.show(answer, words)
    }
}
