/// Takes out of a text what is nobody else's business: whoever asks for help sends it to strangers.
struct Redaction {
    /// Words that are left out wherever they are: who is signed in.
    var privateWords: [String] = []

    static let mark = "(hidden)"
    /// What is shorter is no token, and what is longer and has letters and digits may be one.
    private static let longestWord = 23

    /// The text without credentials in URLs, without what looks like a token, a key or an id, and without the private words.
    func of(_ text: String) -> String {
        var text = text
        for word in privateWords where word.count > 2 { text = text.replacingAll(word, with: Self.mark) }
        return Self.withoutTokens(Self.withoutCredentials(text))
    }

    /// What stands between `://` and `@`.
    private static func withoutCredentials(_ text: String) -> String {
        var rest = text[...]
        var result = ""
        while let start = rest.range(of: "://") {
            result += rest[..<start.upperBound]
            rest = rest[start.upperBound...]
            let authority = rest.prefix { !$0.isWhitespace && !"/\"'<>".contains($0) }
            if let at = authority.lastIndex(of: "@") {
                result += mark
                rest = rest[at...]
            }
        }
        return result + rest
    }

    private static func withoutTokens(_ text: String) -> String {
        var result = ""
        var word = ""
        for character in text {
            if isOfWord(character) {
                word.append(character)
            } else {
                result += shown(word)
                result.append(character)
                word = ""
            }
        }
        return result + shown(word)
    }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "_-.=+~".contains(character))
    }

    private static func shown(_ word: String) -> String {
        let isKey = ["sk_", "pk_", "eyJ"].contains { word.hasPrefix($0) && word.count > $0.count }
        guard isKey || word.count > longestWord else { return word }
        // Names are made of short parts; tokens have long ones, or digits among their letters.
        let parts = word.split { "-_.=".contains($0) }
        let isName = parts.allSatisfy { part in part.allSatisfy(\.isLetter) && part.count < 24 }
        return isKey || !isName ? mark : word
    }
}

extension String {
    fileprivate func replacingAll(_ word: String, with other: String) -> String {
        var rest = self[...]
        var result = ""
        while let found = rest.range(of: word) {
            result += rest[..<found.lowerBound] + other
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}
