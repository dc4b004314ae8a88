import JunctionSession

/// Parses times as in JSON, such as `2023-01-12T12:02:28.592Z`, with any zone and any fraction of a second.
enum IsoTime {
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, marks.allSatisfy({ bytes[$0.at] == $0.mark }),
            let year = Digits.value(bytes[0..<4]), let month = Digits.value(bytes[5..<7]),
            let day = Digits.value(bytes[8..<10]), let hour = Digits.value(bytes[11..<13]),
            let minute = Digits.value(bytes[14..<16]), let second = Digits.value(bytes[17..<19])
        else { return nil }
        var rest = bytes[19...]
        guard let millisecond = milliseconds(&rest), let zone = zone(rest),
            let local = WallTime(
                year: year,
                month: month,
                day: day,
                hour: hour,
                minute: minute,
                second: second,
                millisecond: millisecond
            )
        else { return nil }
        return local + (.zero - zone)
    }

    private static let marks: [(at: Int, mark: UInt8)] = [
        (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")),
        (16, UInt8(ascii: ":")),
    ]

    /// Removes the fraction of a second from the front, if there is one, and returns it.
    private static func milliseconds(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(1 + digits.count)
        guard (1...9).contains(digits.count) else { return nil }
        return Digits.value(digits.prefix(3) + Array(repeating: UInt8(ascii: "0"), count: max(0, 3 - digits.count)))
    }

    /// Returns the offset of the zone from UTC.
    private static func zone(_ text: ArraySlice<UInt8>) -> Duration? {
        if text.elementsEqual("Z".utf8) { return .zero }
        let bytes = Array(text)
        guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"), let hours = Digits.value(bytes[1..<3]), hours < 24,
            let minutes = Digits.value(bytes[4..<6]), minutes < 60
        else { return nil }
        let size = Duration.seconds((hours * 60 + minutes) * 60)
        switch bytes[0] {
        case UInt8(ascii: "+"): return size
        case UInt8(ascii: "-"): return .zero - size
        default: return nil
        }
    }
}
