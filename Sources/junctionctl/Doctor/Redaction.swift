/// Removes private text, because the reader of a report may be a stranger.
struct Redaction {
    /// Words that are always hidden: the names of the signed-in user.
    var privateWords: [String] = []

    static let mark = "(hidden)"
    /// A longer word may be a token.
    private static let longestWord = 23

    /// Returns the text without credentials in URLs, without possible tokens, keys and ids, without the user that the
    /// daemon names, and without the private words.
    func of(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Self.withoutUser(String($0)) }
        var text = lines.joined(separator: "\n")
        // Long words first, because a short one may be a part of a long one.
        let words = Set(privateWords.flatMap { [$0, $0.onOneLine] }).filter { !$0.isEmpty }
        for word in words.sorted(by: { ($1.count, $0) < ($0.count, $1) }) {
            text = text.replacingAll(word, with: Self.mark, inWords: word.count > Self.longestInitials)
        }
        return Self.withoutTokens(Self.withoutCredentials(text))
    }

    /// A word of at most this length is hidden only where it stands alone: as a part of other words it identifies no
    /// user.
    private static let longestInitials = 2

    /// Hides the name in `User anna`. The daemon writes it into its status, so it occurs even if the daemon cannot be
    /// asked for the id.
    private static func withoutUser(_ line: String) -> String {
        guard let start = line.firstRange(of: "User ") else { return line }
        return line[..<start.upperBound] + mark + (tail(" is signed in", of: line[start.upperBound...]) ?? "")
    }

    /// Returns the rest from the last place where an id can have ended, because an id may contain anything.
    private static func tail(_ beginning: String, of rest: Substring) -> Substring? {
        var tail = rest[rest.endIndex...]
        while let found = rest[..<tail.startIndex].lastIndex(where: \.isWhitespace) {
            tail = rest[found...]
            if tail.hasPrefix(beginning) { return tail }
        }
        return nil
    }

    /// Hides the text before an `@` that contains a colon: `user:password@host`, with or without a scheme.
    private static func withoutCredentials(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(where: { !$0.isWhitespace }) {
            let word = rest[start...].prefix { !$0.isWhitespace }
            result += rest[..<start] + withoutCredentials(inWord: word)
            rest = rest[word.endIndex...]
        }
        return result + rest
    }

    private static func withoutCredentials(inWord word: Substring) -> String {
        guard let at = word.lastIndex(of: "@"), word[..<at].contains(":") else { return String(word) }
        // If there is another colon before it, the text is not a scheme but a user with a password.
        let scheme = word[..<at].firstRange(of: "://").map { word[..<$0.upperBound] }.flatMap { scheme in
            scheme.count { $0 == ":" } == 1 ? scheme : nil
        }
        return (scheme ?? "") + mark + word[at...]
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
        // Names have short parts of letters. Tokens have long parts or digits.
        let parts = word.split { "-_.=".contains($0) }
        let isName = parts.allSatisfy { part in part.allSatisfy(\.isLetter) && part.count < 24 }
        return isKey || !isName ? mark : word
    }
}

extension String {
    /// - Parameter inWords: whether to replace it also inside a longer word.
    fileprivate func replacingAll(_ word: String, with other: String, inWords: Bool) -> String {
        var rest = self[...]
        var result = ""
        while let found = rest.firstRange(of: word) {
            let isAlone = !isOfWord(before: found.lowerBound) && !isOfWord(at: found.upperBound)
            result += rest[..<found.lowerBound] + (inWords || isAlone ? other : word)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    private func isOfWord(before index: Index) -> Bool { index > startIndex && isOfWord(at: self.index(before: index)) }

    private func isOfWord(at index: Index) -> Bool {
        index < endIndex && (self[index].isLetter || self[index].isNumber)
    }
}
