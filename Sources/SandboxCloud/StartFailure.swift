/// Why the sandbox cannot run, or cannot be reached as somebody wants it, in words for whoever started it.
package struct StartFailure: Error, CustomStringConvertible {
    /// What is wrong, with what, and what to do.
    package let description: String
}
