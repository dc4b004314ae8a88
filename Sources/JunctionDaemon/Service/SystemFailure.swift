import Glibc

/// The operating system refused something that the daemon needs.
package struct SystemFailure: Error, Equatable, CustomStringConvertible {
    /// The action that failed, as in "cannot *create the alarm*".
    package var action: String
    package var errno: Int32

    package init(_ action: String, errno: Int32) {
        self.action = action
        self.errno = errno
    }

    package var description: String { "Cannot \(action): \(String(cString: strerror(errno)))" }
}
