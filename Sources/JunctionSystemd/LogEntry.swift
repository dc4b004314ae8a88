/// One log line, ready to be written: what goes through here cannot be changed, only kept waiting.
package enum LogEntry: Equatable, Sendable {
    /// The bytes of a line, its ending included.
    case line([UInt8])
    /// The fields of an entry of the journal, each as `NAME=value`.
    case fields([String])

    /// How much memory it takes while it waits.
    package var size: Int {
        switch self {
        case .line(let bytes): bytes.count
        case .fields(let fields): fields.reduce(0) { $0 + $1.utf8.count }
        }
    }
}
