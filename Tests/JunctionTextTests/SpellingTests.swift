import JunctionText
import Testing

/// A word that is nearly one of the existing words.
struct SpellingTests {
    private let words = ["status", "token", "api", "handle", "manage"]

    @Test(arguments: [
        ("tokens", "token"), ("Token", "token"), ("tokne", "token"), ("stauts", "status"), ("apis", "api"),
        ("mange", "manage"),
        ("handel", "handle"),
    ])
    func `the nearest word is suggested`(typed: String, meant: String) {
        #expect(Spelling.suggestion(for: typed, among: words) == meant)
    }

    @Test(arguments: ["", "write", "everything", "sk_us_5up3r-s3cret", String(repeating: "token", count: 1_000)])
    func `a word that resembles none of them has no suggestion`(typed: String) {
        #expect(Spelling.suggestion(for: typed, among: words) == nil)
    }
}
