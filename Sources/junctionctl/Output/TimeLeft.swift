import JunctionProtocol

struct TimeLeft: CustomStringConvertible {
    private let seconds: Int64

    init(until end: Timestamp, from now: Timestamp) {
        seconds = max(0, (end.milliseconds - now.milliseconds) / 1000)
    }

    var description: String { "\(Span(seconds: seconds)) left" }
}

/// The distance of a time from now, in words.
struct Distance: CustomStringConvertible {
    private let milliseconds: Int64

    init(to time: Timestamp, from now: Timestamp) {
        milliseconds = time.milliseconds.subtractingReportingOverflow(now.milliseconds).partialValue
    }

    var description: String {
        switch milliseconds / 1000 {
        case 0: "now"
        case let seconds where seconds > 0: "in \(Span(seconds: seconds))"
        case let seconds: "\(Span(seconds: -seconds)) ago"
        }
    }
}

/// A length of time in its largest suitable unit.
private struct Span: CustomStringConvertible {
    let seconds: Int64

    var description: String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
