/// What scripts ask in loops, read without the argument parser: setting that up takes longer than the answer.
///
/// Only a command line whose meaning is certain is one. Whatever else there is takes the long way, which says what is right
/// and what is wrong; a test holds the two together. The answers are given by the same code on both ways.
enum UsualQuestion: Equatable {
    case token(TokenQuestion)
    case status(StatusQuestion)

    /// Reads the words after the program's name.
    init?(_ words: some Sequence<String>) {
        var verb: String?
        var socket: String?
        var isJSON = false
        var timeout: Double?
        var minimumValidity: Double?
        var isHeader = false

        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "token" where verb == nil, "status" where verb == nil:
                verb = word
            case "--json" where !isJSON:
                isJSON = true
            case "--socket" where socket == nil:
                guard let path = words.next(), let first = path.utf8.first, first != UInt8(ascii: "-") else {
                    return nil
                }
                socket = path
            case "--timeout" where timeout == nil:
                guard let number = words.next(), let seconds = Self.seconds(number) else { return nil }
                timeout = seconds
            case "--header" where verb == "token" && !isHeader:
                isHeader = true
            case "--min-validity" where verb == "token" && minimumValidity == nil:
                guard let number = words.next(), let seconds = Self.seconds(number) else { return nil }
                minimumValidity = seconds
            default:
                return nil
            }
        }

        // It is a line of text, and refused beside JSON.
        if isHeader, isJSON { return nil }
        let daemon = DaemonAccess(socket: socket, json: isJSON, timeout: timeout)
        switch verb {
        case "token": self = .token(TokenQuestion(minimumValidity: minimumValidity, asHeader: isHeader, daemon: daemon))
        case "status": self = .status(StatusQuestion(daemon: daemon))
        default: return nil
        }
    }

    /// Asks, prints the answer, and says what to end with.
    func answer() throws -> ExitStatus {
        switch self {
        case .token(let question): try question.answer()
        case .status(let question): try question.answer()
        }
    }

    /// A number of seconds in plain digits, of a length at which there is nothing to round or to refuse.
    private static func seconds(_ text: String) -> Double? {
        guard (1...15).contains(text.utf8.count) else { return nil }
        var whole = 0
        for digit in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            whole = whole * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return Double(whole)
    }
}
