/// Compares a word that someone typed with the words that exist.
package enum Spelling {
    /// Returns the nearest word, if at most one in three letters is wrong.
    package static func suggestion(for word: String, among words: [String]) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let nearest = words.map { (word: $0, distance: corrections(from: word.lowercased(), to: $0.lowercased())) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= nearest.word.utf8.count / 3 else { return nil }
        return nearest.word
    }

    /// The longest text that is compared. A longer one is not a misspelt word.
    private static let longest = 64

    /// Returns how many letters have to be inserted, removed, changed or exchanged with the next letter.
    package static func corrections(from left: String, to right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        var (before, above) = ([Int](), Array(0...right.count))
        for row in left.indices {
            var line = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var least = min(above[column] + (isSame ? 0 : 1), above[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            (before, above) = (above, line)
        }
        return above[right.count]
    }
}
