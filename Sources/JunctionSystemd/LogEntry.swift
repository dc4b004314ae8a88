/// One log entry, ready to be written.
package enum LogEntry: Equatable, Sendable {
    /// The bytes of a line, with its ending.
    case line([UInt8])
    /// The fields of a journal entry, each as `NAME=value`.
    case fields([String])

    /// The memory that a waiting entry needs, in bytes.
    package var size: Int {
        switch self {
        case .line(let bytes): bytes.count
        case .fields(let fields): fields.reduce(0) { $0 + $1.utf8.count }
        }
    }
}
