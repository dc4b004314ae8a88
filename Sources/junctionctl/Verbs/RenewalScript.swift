import JunctionClient
import JunctionJSON
import JunctionProtocol

/// The command that decides about renewals.
struct RenewalScript {
    var line: String

    /// Where the command finds whose token it is.
    static let userVariable = "JUNCTION_USER_ID"
    /// Where the command finds why it is renewed.
    static let reasonVariable = "JUNCTION_RENEWAL_REASON"

    /// Whether the line begins with the name of a program that the shell does not find. Of a line that begins with anything
    /// else, such as a variable or a quotation mark, this is not known.
    var programIsMissing: Bool {
        guard let name = line.split(separator: " ").first, name.utf8.allSatisfy(\.isPlainInShell) else { return false }
        return (try? ShellCommand(line: "command -v \(name)", input: []).secretOutput("path")) == nil
    }

    /// What came of a question.
    struct Outcome {
        var answer: RenewalAnswer
        /// Why the command had no answer, if so.
        var failure: String?
    }

    /// Runs the command, until the daemon stops waiting at the latest.
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
    /// Whether the shell takes the character as it is, wherever it stands.
    fileprivate var isPlainInShell: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+".utf8.contains(self)
        }
    }
}

extension RenewalScript.Outcome {
    /// What somebody who watches reads; never a token.
    func line(about request: RenewalRequest) -> String {
        let renewal = "renewal \(request.renewalId) of \(request.userId) (\(request.reason)): \(answer.action)"
        return (failure.map { "\(renewal): \($0)" } ?? renewal).onOneLine
    }

    /// The same for a program that watches.
    func write(about request: RenewalRequest, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("renewalId", request.renewalId)
            writer.member("reason", request.reason.rawValue)
            writer.member("userId", request.userId)
            writer.member("action", answer.action)
            writer.member("failure", failure)
        }
    }
}

extension RenewalAnswer {
    /// What a command printed: the answer as JSON, or a word for those that say nothing else.
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

    /// The answer in one word, without what it carries.
    fileprivate var action: String {
        switch self {
        case .renew: "renew"
        case .renewWithAuthToken: "renewWithAuthToken"
        case .renewWithSignature: "renewWithSignature"
        case .unableToRetrieveAuthToken: "unableToRetrieveAuthToken"
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
