import ArgumentParser
import FoundationEssentials
import Glibc

/// A time on the command line: seconds since 1970, or RFC 3339 such as `2018-01-02T03:04:05Z`.
struct PointInTime: ExpressibleByArgument {
    let seconds: Int64

    init?(argument: String) {
        if let seconds = Int64(argument) {
            self.seconds = seconds
        } else if let date = try? Date(argument, strategy: .iso8601) {
            seconds = Int64(date.timeIntervalSince1970)
        } else {
            return nil
        }
    }

    private init(seconds: Int64) {
        self.seconds = seconds
    }

    static var now: PointInTime { PointInTime(seconds: Int64(time(nil))) }
}
