public import FoundationEssentials
public import JunctionClient

// For apps that have Foundation anyway: the client itself goes without it.
extension Date {
    /// A time of the daemon's.
    public init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.milliseconds) / 1000)
    }
}

extension Timestamp {
    /// A time of Foundation's, to the millisecond; what is beyond the years that a date can name is the nearest of them.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }
}
