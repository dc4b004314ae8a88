import ArgumentParser
import Glibc
import JunctionClient
import JunctionProtocol
import JunctionText

/// Calls the provider's API once.
struct ApiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "Calls the provider's API as the signed-in user, and prints the body of the answer.",
        discussion: """
            The daemon adds the credential, and allows only what belongs to the signed-in user. A segment of the path that is \
            ':userId' (or '{userId}') stands for that user's id.
            Ends with exit code 1 when the provider answers with a status of 400 or more.
            """
    )

    @Argument(help: "GET, POST, …")
    var method: String

    @Argument(help: "The path, which may have a query: '/v2/summary/sleep/:userId?start_date=2026-11-01'.")
    var path: String

    @Option(
        help: ArgumentHelp("Send the content of a file along; - is standard input.", valueName: "file"),
        completion: .file()
    )
    var data: String?

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp("Send a header field along; can be given several times.", valueName: "name: value")
    )
    var headers: [String] = []

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let target = try ApiTarget(path)
        let request = ApiRequest(
            method: method.uppercased(),
            path: target.path,
            query: target.query,
            headers: try headerFields(),
            body: try data.map(readBody)
        )
        let answer = try options.ask(ApiCall.self, request)
        if options.json {
            try StandardOutput.line(answer.json)
        } else {
            try answer.value.body.withUnsafeBytes(StandardOutput.write)
            // A file gets exactly the provider's bytes. On a terminal the prompt begins on a new line.
            let endsLine = answer.value.body.withUnsafeBytes { $0.last == nil || $0.last == UInt8(ascii: "\n") }
            if !endsLine, isatty(STDOUT_FILENO) == 1 { try StandardOutput.line("") }
        }
        guard answer.value.status < 400 else {
            throw CommandFailure(
                "the provider answered with status \(answer.value.status)",
                kind: "httpStatus",
                remedy: "its answer is on standard output"
            )
        }
    }

    private func headerFields() throws -> NamedTexts {
        var fields = NamedTexts()
        for header in headers {
            let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandFailure(usage: "--header takes 'name: value'")
            }
            fields.append(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        if data != nil, fields["content-type"] == nil { fields.append("content-type", "application/json") }
        return fields
    }

    private func readBody(_ name: String) throws -> [UInt8] {
        let file = name == "-" ? STDIN_FILENO : try openFile(name, givenTo: "--data")
        defer { if file != STDIN_FILENO { close(file) } }
        var body: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while body.count <= LineSplitter.longestLine {
            let count = chunk.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure(unreadableFileOf: "--data", errno) }
            if count == 0 { return body }
            body += chunk[..<count]
        }
        throw JunctionError.requestTooLarge
    }
}

/// The target of a call: a path and a decoded query.
struct ApiTarget: Equatable {
    var path: String
    var query: NamedTexts = [:]

    init(_ text: String) throws {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        guard path.hasPrefix("/") else { throw CommandFailure(usage: "the path has to begin with '/'") }
        guard parts.count == 2 else { return }
        for (index, pair) in parts[1].split(separator: "&").enumerated() {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescaped(sides[0]), let value = unescaped(sides.count == 2 ? sides[1] : "") else {
                throw CommandFailure(usage: "parameter \(index + 1) of the query is not properly percent-encoded UTF-8")
            }
            guard !query.contains(where: { $0.name == name }) else {
                throw CommandFailure(usage: "parameter \(index + 1) of the query has the name of an earlier one")
            }
            query.append(name, value)
        }
    }
}

/// Decodes percent-encoded text.
private func unescaped(_ text: Substring) -> String? {
    PercentEncoding.decode(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
}
