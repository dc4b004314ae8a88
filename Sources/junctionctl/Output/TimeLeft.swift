import JunctionProtocol

/// How much time is left, in words.
struct TimeLeft: CustomStringConvertible {
    private let seconds: Int64

    init(until end: Timestamp, from now: Timestamp) {
        seconds = max(0, (end.milliseconds - now.milliseconds) / 1000)
    }

    var description: String {
        switch seconds {
        case ..<120: "\(seconds) s left"
        case ..<7200: "\(seconds / 60) min left"
        case ..<172_800: "\(seconds / 3600) h left"
        default: "\(seconds / 86_400) days left"
        }
    }
}
