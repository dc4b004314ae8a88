import Glibc

/// Why a test could not go on.
package struct TestFailure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) {
        self.description = description
    }

    /// - Parameter code: what the kernel said.
    package init(_ what: String, errno code: Int32) {
        description = "\(what): \(String(cString: strerror(code)))"
    }
}
