public import FoundationEssentials
public import JunctionClient

// Conversions for apps that use Foundation. The client itself does not use it.
extension Date {
    /// Makes a date from a time of the daemon.
    public init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.milliseconds) / 1000)
    }
}

extension Timestamp {
    /// Makes a time from a date, rounded to milliseconds. A date out of range becomes the nearest possible time.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }
}
