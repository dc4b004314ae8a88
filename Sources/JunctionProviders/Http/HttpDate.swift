import JunctionSession

/// Parses the date format that HTTP servers must send (IMF-fixdate): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HttpDate {
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, matches(bytes, 3, ", "), matches(bytes, 25, " GMT") else { return nil }
        guard [7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }) else { return nil }
        guard bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":") else { return nil }
        guard let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)),
            let day = Digits.value(bytes[5..<7]), let year = Digits.value(bytes[12..<16]),
            let hour = Digits.value(bytes[17..<19]), let minute = Digits.value(bytes[20..<22]),
            let second = Digits.value(bytes[23..<25])
        else { return nil }
        return WallTime(
            year: year,
            month: Int64(month) + 1,
            day: day,
            hour: hour,
            minute: minute,
            second: second
        )
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func matches(_ bytes: [UInt8], _ start: Int, _ text: String) -> Bool {
        bytes[start...].starts(with: text.utf8)
    }
}
