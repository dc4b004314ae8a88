import Foundation
import JunctionTesting

/// The HTTP socket, with curl as a client that shares no code with the project.
struct ApiSocket {
    let socket: String
    private let folder: TemporaryFolder
    /// The command in front of curl that changes the user, or empty.
    private let caller: [String]

    init(_ socket: String, in folder: TemporaryFolder, as caller: [String] = []) {
        (self.socket, self.folder, self.caller) = (socket, folder, caller)
    }

    struct Answer {
        var status = 0
        /// The headers by lower-case name.
        var headers: [String: String] = [:]
        var body: Data

        var text: String { String(decoding: body, as: UTF8.self) }
        /// The kind of an error of the daemon. Errors of the provider have none.
        var kind: String? { headers["junction-error"] }

        func json() throws -> Object {
            guard let object = try JSONSerialization.jsonObject(with: body) as? Object else {
                throw TestFailure(description: "Not a JSON object: \(text)")
            }
            return object
        }
    }

    /// Requests a path with additional curl arguments.
    func ask(_ path: String, _ arguments: String...) throws -> Answer {
        let ending = try program(["--include", "http://junction" + path] + arguments).wait()
        guard ending.status == 0 else {
            throw TestFailure(description: "curl ended with \(ending.status): \(ending.errors)")
        }
        return try Answer(Data(ending.output.utf8))
    }

    /// Requests a path and returns the running curl, whose output can be read line by line.
    func listen(_ path: String) throws -> RunningProgram {
        let arguments = command(["--no-buffer", "http://junction" + path])
        return try RunningProgram(arguments[0], Array(arguments.dropFirst()), in: folder)
    }

    func program(_ arguments: [String]) throws -> Program {
        let arguments = command(arguments)
        return try Program(arguments[0], Array(arguments.dropFirst()), in: folder)
    }

    private func command(_ arguments: [String]) -> [String] {
        caller + [SystemPrograms.curl, "--silent", "--show-error", "--unix-socket", socket] + arguments
    }
}

extension ApiSocket.Answer {
    /// Parses the output of `curl --include`: the heads of interim answers (100), the head, and the body.
    init(_ printed: Data) throws {
        body = printed
        while status < 200 {
            guard let end = body.firstRange(of: Data("\r\n\r\n".utf8)) else {
                throw TestFailure(
                    description: "No answer over HTTP: \(String(decoding: printed.prefix(300), as: UTF8.self))"
                )
            }
            let lines = String(decoding: body[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 599
            headers = lines.dropFirst().reduce(into: [:]) { headers, line in
                let sides = line.split(separator: ":", maxSplits: 1)
                headers[sides[0].lowercased()] = sides.last?.trimmingCharacters(in: .whitespaces)
            }
            body = Data(body[end.upperBound...])
        }
    }
}

extension Installation {
    /// The path of the HTTP socket in `apiConfiguration`.
    var apiSocket: String { folder.path + "/run/api.sock" }

    var apiConfiguration: String { "[api]\nsocket = \"\(apiSocket)\"\n" }

    /// Creates an installation with a running daemon that also serves HTTP.
    static func withHTTP(configuration: String = "") throws -> Installation {
        let installation = try Installation()
        installation.configuration = installation.apiConfiguration + configuration
        try installation.startDaemon()
        return installation
    }

    func api(as caller: [String] = []) -> ApiSocket {
        ApiSocket(apiSocket, in: folder, as: caller)
    }
}
