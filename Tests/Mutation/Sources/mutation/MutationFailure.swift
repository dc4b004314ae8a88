/// An error that ends the tool, with a text for the user.
struct MutationFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
