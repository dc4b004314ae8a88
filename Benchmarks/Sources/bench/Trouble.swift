import Glibc

/// Why something could not be measured.
struct Trouble: Error, CustomStringConvertible {
    let description: String
    /// What the system called it, if it was the system that refused.
    let code: Int32?

    init(_ description: String, code: Int32? = nil) {
        self.description = description
        self.code = code
    }
}

/// Turns what an instrument returned into an error.
func check(_ code: Int32, _ what: @autoclosure () -> String) throws {
    guard code != 0 else { return }
    throw Trouble("\(what()): \(String(cString: strerror(code)))", code: code)
}
