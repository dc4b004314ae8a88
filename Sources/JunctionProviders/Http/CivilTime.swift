import JunctionSession
import JunctionText

extension WallTime {
    /// Makes a time from a Gregorian date and time in UTC. Returns `nil` if the time does not exist or is before 1970.
    init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        // A leap second counts as the first second of the next day, as in POSIX.
        guard year >= 1970, let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        self.init(milliseconds: (((date.dayNumber * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
    }
}

/// Parses the whole numbers in dates and headers: digits only.
enum Digits {
    static func value(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...18).contains(digits.count) else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
