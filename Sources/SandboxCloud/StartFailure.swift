/// Why the sandbox cannot run, in words for whoever started it.
package struct StartFailure: Error, CustomStringConvertible {
    /// What is wrong, with what, and what to do.
    package let description: String
}
