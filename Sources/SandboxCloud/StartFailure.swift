/// The reason why the sandbox cannot start or cannot be reached as configured.
package struct StartFailure: Error, CustomStringConvertible {
    /// What failed, for which value, and what to do.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
