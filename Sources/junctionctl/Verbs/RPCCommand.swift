import ArgumentParser
import Glibc
import JunctionClient
import JunctionJSON
import JunctionProtocol

/// Calls any method of the daemon, for scripts.
struct RPCCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc",
        abstract: "Calls a method of the daemon's, and prints its result as JSON.",
        discussion: """
            'junctionctl rpc rpc.discover' describes all methods. Parameters are one JSON object; those of session.signIn \
            and session.authorizationPage can contain a secret, so give them on standard input: every user can read \
            arguments. The program prints one answer and ends, which ends a subscription. For methods whose caller has to \
            answer requests, use identify and handle-renewals.
            """
    )

    @Argument(help: "session.status, token.get, …")
    var method: String

    @Argument(help: ArgumentHelp("JSON; - is standard input.", valueName: "params"))
    var params: String?

    @OptionGroup var options: GlobalOptions

    /// Methods for which the daemon asks back, and the verb to use instead, because `rpc` cannot answer.
    private static let conversations = [
        "\(SessionIdentify.name)": "identify", "\(HandlerRegister.name)": "handle-renewals",
    ]

    func validate() throws {
        if let verb = Self.conversations[method] {
            throw ValidationError(
                "the daemon sends requests to the caller of \(method), and rpc cannot answer them: use 'junctionctl \(verb)'"
            )
        }
        let definition = Method.allCases.first { "\($0.name)" == method }?.definition
        guard params == nil || params == "-" || definition?.takesSecret != true else {
            throw ValidationError(
                "the parameters of \(method) can contain a secret, and every user can read arguments: give - and the "
                    + "parameters on standard input"
            )
        }
    }

    func run() throws {
        let params = try parameters()
        try StandardOutput.line(try answer(to: params))
    }

    private func answer(to params: JSONValue?) throws -> JSONValue {
        do throws(JunctionError) {
            return try options.waiting { deadline throws(JunctionError) in
                var connection = try Connection(to: options.path, by: deadline)
                return try connection.perform(method, params, by: deadline)
            }
        } catch {
            throw MistypedMethod(method, error)?.failure ?? error
        }
    }

    private func parameters() throws -> JSONValue? {
        switch params {
        case nil: return nil
        case "-":
            let text = try SecretText(readingSecret: "parameters", from: STDIN_FILENO, atMost: LineSplitter.longestLine)
            return try text.withUnsafeBytes(Self.parse)
        case let text?:
            let bytes = Array(text.utf8)
            // A longer text does not fit into a line of the protocol.
            guard bytes.count <= LineSplitter.longestLine else { throw JunctionError.requestTooLarge }
            return try bytes.withUnsafeBytes(Self.parse)
        }
    }

    /// Invalid JSON is reported here, because the daemon could not say which part of its line is wrong.
    private static func parse(_ bytes: UnsafeRawBufferPointer) throws -> JSONValue {
        do throws(JSONFault) {
            _ = try JSONValue.parse(bytes)
        } catch {
            throw CommandFailure(usage: "the parameters are \(error)")
        }
        // A line break ends a message of the protocol. In JSON it is white space, so a space replaces it.
        let line = try SecretText("parameters", atMost: LineSplitter.longestLine) { room in
            room.copyBytes(from: bytes)
            for index in bytes.indices where room[index] == UInt8(ascii: "\n") || room[index] == UInt8(ascii: "\r") {
                room[index] = UInt8(ascii: " ")
            }
            return bytes.count
        }
        return try line.withUnsafeBytes { try JSONValue.parse($0) }
    }
}
