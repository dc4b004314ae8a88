import Glibc
import JunctionClient
import JunctionJSON
import JunctionProtocol
import JunctionText

/// The command that answers renewal requests.
struct RenewalScript {
    var line: String

    /// The variable that tells the command whose token is needed.
    static let userVariable = "JUNCTION_USER_ID"
    static let reasonVariable = "JUNCTION_RENEWAL_REASON"

    /// Whether the line begins with the name of a program that the shell does not find. If the line begins with
    /// anything else, such as a variable or a quotation mark, the result is false.
    var programIsMissing: Bool {
        // Assignments may come before the program.
        let words = line.split(separator: " ")
        guard !words.isEmpty else { return true }
        // The shell looks in the new path.
        if words.contains(where: { $0.hasPrefix("PATH=") }) { return false }
        let name = words.first {
            !$0.contains("=") || !$0.utf8.allSatisfy { $0.isPlainInShell || $0 == UInt8(ascii: "=") }
        }
        guard let name, name.utf8.allSatisfy(\.isPlainInShell) else { return false }
        // `command -v` also finds a folder.
        if name.contains("/") { return access(String(name), X_OK) != 0 || isFolder(String(name)) }
        return (try? ShellCommand(line: "command -v \(name)", input: []).secretOutput("path")) == nil
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The result of a renewal request.
    struct Outcome {
        var answer: RenewalAnswer
        /// Why the command had no answer.
        var failure: String?
    }

    /// Runs the command, at most until the daemon stops waiting.
    func outcome(of question: RenewalQuestion) -> Outcome {
        outcome(of: question.request, input: question.json.rawText)
    }

    func outcome(of request: RenewalRequest, input: [UInt8], at now: Timestamp = .now) -> Outcome {
        let command = ShellCommand(
            line: line,
            variables: [Self.userVariable: request.userId, Self.reasonVariable: request.reason.rawValue],
            input: input + [UInt8(ascii: "\n")],
            deadline: .after(.milliseconds(max(0, request.deadline.milliseconds - now.milliseconds)))
        )
        do {
            return Outcome(answer: try RenewalAnswer(printed: try command.secretOutput("answer")))
        } catch {
            let reason = (error as? CommandFailure)?.what ?? "\(error)"
            return Outcome(answer: .unableToRetrieveAuthToken, failure: reason)
        }
    }
}

extension UInt8 {
    /// Whether the character has no special meaning for the shell.
    fileprivate var isPlainInShell: Bool {
        isASCIILetterOrDigit || "/._-+".utf8.contains(self)
    }
}

extension RenewalScript.Outcome {
    /// The line for a user. It never contains a token.
    func line(about request: RenewalRequest) -> String {
        let renewal = "renewal \(request.renewalId) of \(request.userId) (\(request.reason)): \(answer.action.rawValue)"
        return (failure.map { "\(renewal): \($0)" } ?? renewal).onOneLine
    }

    /// Writes the result as JSON.
    func write(about request: RenewalRequest, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("renewalId", request.renewalId)
            writer.member("reason", request.reason.rawValue)
            writer.member("userId", request.userId)
            writer.member("action", answer.action.rawValue)
            writer.member("failure", failure)
        }
    }
}

extension RenewalAnswer {
    /// Parses the output of the command: the answer as JSON, or the word `renew` or `unable`.
    init(printed text: SecretText) throws {
        self = try text.withUnsafeBytes { bytes in
            if bytes.elementsEqual("renew".utf8) { return .renew }
            if bytes.elementsEqual("unable".utf8) { return .unableToRetrieveAuthToken }
            do {
                return try RenewalAnswer(reading: try JSONValue.parse(bytes))
            } catch let mismatch as WireMismatch {
                throw CommandFailure(printed: "\(mismatch)")
            } catch {
                throw CommandFailure(printed: "it is neither JSON nor 'renew' nor 'unable'")
            }
        }
    }
}

extension CommandFailure {
    fileprivate init(printed why: String) {
        self.init(
            "the command printed no answer: \(why)",
            kind: "tokenCommandFailed",
            remedy: "run the command by hand to see what it prints"
        )
    }
}
