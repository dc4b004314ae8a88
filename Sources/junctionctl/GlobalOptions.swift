import ArgumentParser
import JunctionClient
import JunctionProtocol

/// The options of every verb.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the daemon listens.",
            discussion: """
                By default that of --instance, then $JUNCTIOND_SOCKET, then that of $JUNCTIOND_INSTANCE, then that of \
                the instance junctiond.
                """,
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Which of several installations on this machine is meant.",
            discussion: """
                Its socket is $XDG_RUNTIME_DIR/junctiond/NAME.sock if that exists, then /run/junctiond/NAME.sock. \
                By default $JUNCTIOND_INSTANCE, then junctiond, the installation without a name in its units.
                """,
            valueName: "name"
        )
    )
    var instance: String?

    @Flag(help: "Print one JSON document, or one a line where there are several.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "How long to wait for the daemon's answer at most.",
            discussion: """
                When that is over the exit code is 75. Without it there is no limit. The time in which a person \
                types or signs in on a page does not count.
                """,
            valueName: "seconds"
        )
    )
    var timeout: Double?

    func validate() throws {
        if let timeout { try requireSeconds(timeout, "--timeout") }
        if socket != nil, instance != nil { throw ValidationError("Give --socket or --instance, not both.") }
        if let fault = path.fault {
            // The name is not shown, because it may be a secret that was meant for another option.
            throw ValidationError("\(instance == nil ? "$JUNCTIOND_INSTANCE" : "--instance"): \(fault).")
        }
    }

    /// The path of the socket. Errors do not repeat a given path, because it may be a secret that was meant for another
    /// option.
    var path: SocketPath {
        socket.map { SocketPath($0, named: "the path given to --socket") } ?? .resolve(nil, instance: instance)
    }

    var deadline: Deadline { timeout.map { .after(.seconds(min($0, 1e9))) } ?? .never }

    /// Runs `body` with the deadline. If the time runs out, the error names the timeout.
    func waiting<Result>(_ body: (Deadline) throws(JunctionError) -> Result) throws(JunctionError) -> Result {
        do throws(JunctionError) {
            return try body(deadline)
        } catch {
            throw error.naming(timeout: timeout)
        }
    }

    /// Connects to the daemon, for several requests.
    func connect() throws -> Connection {
        try waiting { deadline throws(JunctionError) in try Connection(to: path, by: deadline) }
    }

    func ask<Definition: MethodDefinition>(
        _ method: Definition.Type,
        _ params: Definition.Params,
        answering respond: Connection.Responder = { _ in .failure(.methodNotFound) }
    ) throws -> Connection.Answered<Definition.Answer> {
        try waiting { deadline throws(JunctionError) in
            try Connection.ask(method, params, at: path, by: deadline, answering: respond)
        }
    }

    /// Prints the daemon's answer, as JSON or in words.
    func show<Value>(_ answer: Connection.Answered<Value>, _ words: (Value) -> String) throws {
        if json {
            try StandardOutput.line(answer.json)
        } else {
            try StandardOutput.line(words(answer.value))
        }
    }
}

extension JunctionError {
    /// The error with the timeout in its message and with advice, if the time ran out.
    fileprivate func naming(timeout seconds: Double?) -> JunctionError {
        guard kind == .timedOut, let seconds else { return self }
        let words = seconds == seconds.rounded() && seconds < 1e15 ? "\(Int64(seconds))" : "\(seconds)"
        var error = JunctionError(.timedOut, "the daemon did not answer within \(words) s")
        error.advice =
            "it may still do what it was asked, see 'junctionctl status'; give it longer by --timeout, or look whether it runs"
        return error
    }
}
