import JunctionSession

/// The one date format that HTTP servers must send: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HttpDate {
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, matches(bytes, 3, ", "), matches(bytes, 25, " GMT") else { return nil }
        guard [7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }) else { return nil }
        guard bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":") else { return nil }
        guard let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)) else { return nil }

        guard let day = number(bytes[5..<7]), (1...31).contains(day),
            let year = number(bytes[12..<16]), year >= 1970,
            let hour = number(bytes[17..<19]), hour < 24,
            let minute = number(bytes[20..<22]), minute < 60,
            let second = number(bytes[23..<25]), second <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: month + 1, day: day)
        return WallTime(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func matches(_ bytes: [UInt8], _ start: Int, _ text: String) -> Bool {
        bytes[start...].starts(with: text.utf8)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// The Gregorian calendar, with years that begin in March so that the leap day is the last one.
    private static func daysSince1970(year: Int64, month: Int, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
