/// Why the tool cannot go on, in words for whoever started it.
struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
