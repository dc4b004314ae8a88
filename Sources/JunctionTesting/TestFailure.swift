import Glibc

/// The reason why a test cannot continue.
package struct TestFailure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) {
        self.description = description
    }

    /// - Parameter code: The `errno` value of the failed system call.
    package init(_ what: String, errno code: Int32) {
        description = "\(what): \(String(cString: strerror(code)))"
    }
}
