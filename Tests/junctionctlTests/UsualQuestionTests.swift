import ArgumentParser
import Foundation
import Testing

@testable import junctionctl

/// The verbs that are read by hand, against the argument parser that reads all others: whatever the short way takes for
/// certain means the same on the long way, where the answer is given by the same code.
@Suite struct UsualQuestionTests {
    /// The forms that scripts use, which have to be quick.
    static let usual: [([String], UsualQuestion)] = [
        (["token"], .token(TokenQuestion(daemon: DaemonAccess()))),
        (["status"], .status(StatusQuestion(daemon: DaemonAccess()))),
        (["--json", "status"], .status(StatusQuestion(daemon: DaemonAccess(json: true)))),
        (["status", "--json"], .status(StatusQuestion(daemon: DaemonAccess(json: true)))),
        (["token", "--header"], .token(TokenQuestion(asHeader: true, daemon: DaemonAccess()))),
        (["status", "--timeout", "5"], .status(StatusQuestion(daemon: DaemonAccess(timeout: 5)))),
        (["--timeout", "0", "token"], .token(TokenQuestion(daemon: DaemonAccess(timeout: 0)))),
        (["--socket", "/a b", "token"], .token(TokenQuestion(daemon: DaemonAccess(socket: "/a b")))),
        (
            ["token", "--min-validity", "60", "--json", "--socket", "s"],
            .token(TokenQuestion(minimumValidity: 60, daemon: DaemonAccess(socket: "s", json: true)))
        ),
    ]

    @Test(arguments: usual)
    func `the usual forms take the short way`(words: [String], question: UsualQuestion) throws {
        #expect(UsualQuestion(words) == question)
        #expect(Self.longWay(words) == question)
    }

    @Test(arguments: [
        [], ["token", "status"], ["token", "token"], ["status", "--min-validity", "5"],
        ["--min-validity", "5", "token"],
        ["token", "--min-validity"], ["token", "--min-validity", "-1"], ["token", "--min-validity", "nan"],
        ["token", "--min-validity", ""], ["token", "--min-validity", "1.5"], ["token", "--min-validity", "1e3"],
        ["status", "--header"], ["--header", "token"], ["token", "--header", "--header"],
        ["token", "--header", "--json"],
        ["token", "--timeout"], ["token", "--timeout", "-1"], ["token", "--timeout", "0.5"],
        ["token", "--timeout", "1", "--timeout", "1"],
        ["token", "--socket"], ["token", "--socket", ""], ["token", "--socket", "-x"], ["token", "--socket", "--json"],
        ["token", "--socket", "a", "--socket", "b"], ["token", "--json", "--json"], ["token", "--help"],
        ["token", "-h"],
        ["token", "--version"], ["--version"], ["help", "token"], ["token", "--"], ["--", "token"], ["token", ""],
        ["token", "extra"], ["Token"], ["tokén"], ["renew"], ["token", "--socket=a"], ["status", "--js"],
    ])
    func `whatever is not certain takes the long way`(words: [String]) {
        #expect(UsualQuestion(words) == nil)
    }

    @Test func `both ways understand the same of very many command lines`() {
        let count = ProcessInfo.processInfo.environment["JUNCTION_COMMAND_LINES"].flatMap { Int($0) } ?? 3_000
        var chance = Chance(seed: 11)
        var quick = 0
        for _ in 0..<count {
            let words = (0..<Int.random(in: 1...6, using: &chance)).map { _ in Self.word(&chance) }
            guard let question = UsualQuestion(words) else { continue }
            quick += 1
            #expect(Self.longWay(words) == question, "\(words)")
        }
        // The comparison is about something.
        #expect(quick * 20 > count, "\(quick) of \(count)")
    }

    /// What the argument parser makes of the words, if it is one of the two verbs.
    private static func longWay(_ words: [String]) -> UsualQuestion? {
        switch try? Junctionctl.parseAsRoot(words) {
        case let command as TokenCommand: .token(command.question)
        case let command as StatusCommand: .status(command.question)
        default: nil
        }
    }

    private static func word(_ chance: inout Chance) -> String {
        let verbs = ["token", "status", "token", "status", "renew", "help", "watch"]
        let options = [
            "--json", "--json", "--socket", "--socket", "--min-validity", "--header", "--timeout", "--help",
            "--version", "--", "-",
        ]
        let values = [
            "/run/a.sock", "a", "5", "0", "007", "600", "1.5", "-1", "", "token", "status", "é", "٣", "1e3", "+5", " 5",
            "999999999999999", "9999999999999999", "--socket=a", "--socket=", "--min-validity=9", "-json", "---x",
        ]
        switch Int.random(in: 0..<10, using: &chance) {
        case 0..<4: return verbs.randomElement(using: &chance)!
        case 4..<7: return options.randomElement(using: &chance)!
        default: return values.randomElement(using: &chance)!
        }
    }
}

/// The same numbers for the same seed (SplitMix64).
private struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
