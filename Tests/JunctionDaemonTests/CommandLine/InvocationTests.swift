import ArgumentParser
import Foundation
import JunctionDaemon
import JunctionSession
import Testing

/// The daemon's command line, read by hand, against the argument parser that read it before.
@Suite struct InvocationTests {
    @Test(arguments: [
        [], ["--help"], ["-h"], ["--version"], ["--config", "a"], ["--config=a", "--socket", "b", "--state-dir=c"],
        ["--check-config", "--config", "a", "--config", "b"], ["--config="], ["--config=", "a"], ["--config", ""],
        ["--config", "", "--help"], ["--config", "", "--version"], ["--config", "--help"], ["--config", "--", "a"],
        ["--check-config=true"], ["--check-config="], ["--confg", "a"], ["--conf"], ["--stat"], ["-config", "a"],
        ["-x"], ["-xh"], ["-help"], ["-h=1"], ["-x="], ["-=x"], ["--=x"], ["---x"], ["--help", "---x"], ["--help=1"],
        ["--version=2", "extra"], ["extra"], ["extra", "-"], ["extra", "--nope", "--version"],
        ["--", "--config", "--"],
        ["--socket", "-"], ["--socket", "a=b"], ["--socket=a=b"], ["-\u{301}x"], ["--café"], [""],
    ])
    func `a command line means what it meant to the argument parser`(words: [String]) {
        #expect(Invocation.verdict(on: words) == ParserJudge.verdict(on: words))
    }

    @Test func `so does every one of very many that were put together by chance`() {
        let count = ProcessInfo.processInfo.environment["JUNCTION_COMMAND_LINES"].flatMap { Int($0) } ?? 2_000
        var chance = Randomness(seed: 11)
        var met: [String: Int] = [:]
        for _ in 0..<count {
            let words = (0..<Int.random(in: 0...5, using: &chance)).map { _ in Self.word(&chance) }
            let verdict = Invocation.verdict(on: words)
            met[Self.sort(of: verdict), default: 0] += 1
            #expect(verdict == ParserJudge.verdict(on: words), "\(words)")
        }
        // Whatever can come of a command line did come of some.
        #expect(met.count == 10, "\(met)")
    }

    @Test(arguments: ["--config", "--socket", "--state-dir", "--check-config"])
    func `a slip of up to three letters is told what was meant`(name: String) throws {
        for slip in [String(name.dropLast()), name + "x", name.replacing("-c", with: "-k"), String(name.dropFirst())] {
            guard case .refuses(let text) = Invocation.verdict(on: [slip]), slip != name else { continue }
            #expect(text.contains("did you mean '\(name)'?"), "\(slip): \(text)")
        }
    }

    @Test(arguments: [("bash", "junctiond.bash"), ("zsh", "junctiond.zsh"), ("fish", "junctiond.fish")])
    func `the completions of the package are those of the argument parser`(shell: String, file: String) throws {
        let path = #filePath.components(separatedBy: "/Tests/")[0] + "/packaging/completions/" + file
        let shell = try #require(CompletionShell(rawValue: shell))
        let script = ParserJudge.completionScript(for: shell) + "\n"
        if ProcessInfo.processInfo.environment["JUNCTION_WRITE_COMPLETIONS"] != nil {
            try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        }

        #expect(try String(contentsOfFile: path, encoding: .utf8) == script)
    }

    private static func word(_ chance: inout Randomness) -> String {
        let names = ["--config", "--socket", "--state-dir", "--check-config", "--help", "--version", "-h"]
        let odd = ["", "-", "--", "---", "-x", "-hx", "--=", "-=", "a", "/etc/a.toml", "a=b", "-config", "help"]
        switch Int.random(in: 0..<10, using: &chance) {
        case 0..<4: return names.randomElement(using: &chance)!
        case 4: return names.randomElement(using: &chance)! + "=" + odd.randomElement(using: &chance)!
        case 5: return slip(in: names.randomElement(using: &chance)!, &chance)
        case 6..<8: return Int.random(in: 0..<5, using: &chance) == 0 ? "" : "value"
        default: return odd.randomElement(using: &chance)!
        }
    }

    /// The same with some letters missing, changed or doubled.
    private static func slip(in name: String, _ chance: inout Randomness) -> String {
        var letters = Array(name)
        for _ in 0..<Int.random(in: 1...5, using: &chance) where letters.count > 3 {
            let place = Int.random(in: 0..<letters.count, using: &chance)
            switch Int.random(in: 0..<3, using: &chance) {
            case 0: letters.remove(at: place)
            case 1: letters[place] = "abcdefgh=".randomElement(using: &chance)!
            default: letters.insert(letters[place], at: place)
            }
        }
        return String(letters)
    }

    private static func sort(of verdict: ParserJudge.Verdict) -> String {
        switch verdict {
        case .serve: "serve"
        case .checkConfiguration: "check"
        case .tells(let text): text.count > 20 ? "help" : "version"
        case .refuses(let text):
            ["unknown option", "Missing", "unexpected", "malformed", "does not take", "needs a path"]
                .first(where: text.contains) ?? text
        }
    }
}
