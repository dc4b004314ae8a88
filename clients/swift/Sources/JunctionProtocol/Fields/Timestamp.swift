import JunctionText

/// A point in time as RFC 3339 on the wire: in UTC, to the millisecond.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// Makes a time from a number.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The expiry time of a token that does not expire: 9999-12-31T23:59:59Z.
    public static let never = Timestamp(milliseconds: 253_402_300_799_000)

    /// Orders by time.
    public static func < (earlier: Timestamp, later: Timestamp) -> Bool {
        earlier.milliseconds < later.milliseconds
    }
}

extension Timestamp: CustomStringConvertible {
    // The first and the last millisecond of the years with four digits.
    private static let earliest: Int64 = -62_167_219_200_000
    private static let latest: Int64 = 253_402_300_799_999

    /// The time in the form `2026-11-21T06:20:34Z`, with milliseconds only if they are not zero.
    ///
    /// RFC 3339 cannot express years before 0 and after 9999. The result is then the nearest possible time.
    public var description: String {
        let time = min(max(milliseconds, Self.earliest), Self.latest)
        let fraction = ((time % 1000) + 1000) % 1000
        let (day, second) = CivilDate.split(seconds: (time - fraction) / 1000)

        return String(unsafeUninitializedCapacity: 24) { room in
            var end = 0
            func write(_ number: Int64, _ width: Int, then mark: Unicode.Scalar) {
                var rest = number
                for place in (end..<end + width).reversed() {
                    room[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                room[end + width] = UInt8(ascii: mark)
                end += width + 1
            }
            write(day.year, 4, then: "-")
            write(day.month, 2, then: "-")
            write(day.day, 2, then: "T")
            write(second / 3600, 2, then: ":")
            write(second / 60 % 60, 2, then: ":")
            write(second % 60, 2, then: fraction == 0 ? "Z" : ".")
            if fraction != 0 { write(fraction, 3, then: "Z") }
            return end
        }
    }

    /// Parses a time of RFC 3339 with any offset. Digits after the milliseconds are cut off.
    ///
    /// A leap second (`:60`) becomes the first second of the next minute, as in the system clock.
    public init?(_ text: String) {
        guard let milliseconds = RFC3339.milliseconds(text) else { return nil }
        self.milliseconds = milliseconds
    }
}
