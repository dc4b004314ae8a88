/// Takes out of a text what is nobody else's business: whoever asks for help sends it to strangers.
struct Redaction {
    /// Words that are left out wherever they are: who is signed in.
    var privateWords: [String] = []

    static let mark = "(hidden)"
    /// What is shorter is no token, and what is longer and has letters and digits may be one.
    private static let longestWord = 23

    /// The text without credentials of URLs, without what looks like a token, a key or an id, without whom the daemon calls a
    /// user, and without the private words.
    func of(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Self.withoutUser(String($0)) }
        var text = lines.joined(separator: "\n")
        // A long one first: a short one may be a part of it.
        let words = Set(privateWords.flatMap { [$0, $0.onOneLine] }).filter { !$0.isEmpty }
        for word in words.sorted(by: { ($1.count, $0) < ($0.count, $1) }) {
            text = text.replacingAll(word, with: Self.mark, inWords: word.count > Self.longestInitials)
        }
        return Self.withoutTokens(Self.withoutCredentials(text))
    }

    /// What is so short is hidden where it stands alone: as a part of other words it says nothing of anybody.
    private static let longestInitials = 2

    /// Whoever is called `User anna`: the daemon says so in its status, also where there is nobody to ask for the id.
    private static func withoutUser(_ line: String) -> String {
        if let start = line.range(of: "User ") {
            return line[..<start.upperBound] + mark + (tail(" is signed in", of: line[start.upperBound...]) ?? "")
        }
        // So the record on the disk is described, which may be somebody else's than the session.
        if let start = line.range(of: ", user "), let tail = tail(" generation ", of: line[start.upperBound...]) {
            return line[..<start.upperBound] + mark + "," + tail
        }
        return line
    }

    /// What can follow an id, from there on; the last, because an id may have anything in it.
    private static func tail(_ beginning: String, of rest: Substring) -> Substring? {
        var tail = rest[rest.endIndex...]
        while let found = rest[..<tail.startIndex].lastIndex(where: \.isWhitespace) {
            tail = rest[found...]
            if tail.hasPrefix(beginning) { return tail }
        }
        return nil
    }

    /// What stands before an `@`, with a colon in it: `user:password@host`, behind a scheme or without one.
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
        // What has a colon before it is no scheme, but a user with a password.
        let scheme = word[..<at].range(of: "://").map { word[..<$0.upperBound] }.flatMap { scheme in
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
        // Names are made of short parts; tokens have long ones, or digits among their letters.
        let parts = word.split { "-_.=".contains($0) }
        let isName = parts.allSatisfy { part in part.allSatisfy(\.isLetter) && part.count < 24 }
        return isKey || !isName ? mark : word
    }
}

extension String {
    /// - Parameter inWords: also where it is a part of a longer word.
    fileprivate func replacingAll(_ word: String, with other: String, inWords: Bool) -> String {
        var rest = self[...]
        var result = ""
        while let found = rest.range(of: word) {
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
