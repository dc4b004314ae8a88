import Glibc

/// The reason why a figure could not be measured.
struct Trouble: Error, CustomStringConvertible {
    let description: String
    /// The errno, if a system call failed.
    let code: Int32?

    init(_ description: String, code: Int32? = nil) {
        self.description = description
        self.code = code
    }
}

/// Converts the result of an instrument to an error.
func check(_ code: Int32, _ what: @autoclosure () -> String) throws {
    guard code != 0 else { return }
    throw Trouble("\(what()): \(String(cString: strerror(code)))", code: code)
}
