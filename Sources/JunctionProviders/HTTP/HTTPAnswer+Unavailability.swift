import JunctionSession
import JunctionText

extension HTTPAnswer {
    /// Returns whether a server that answers with this status may have acted on the request. With 503 and 429 it has
    /// not.
    static func mayHaveActed(status: Int) -> Bool {
        (200..<300).contains(status) || (status >= 500 && status != 503)
    }

    /// Returns the `Unavailability` for an answer that is neither the expected success nor a verdict.
    func unavailability(now: WallTime) -> Unavailability {
        let message =
            switch status {
            case 300..<400:
                "\(place) answered with a redirect (\(status)), which is not followed: check the URL"
            case 429:
                "\(place) asks to wait (429)"
            case 500...:
                "\(place) answered with an error of its own (\(status))"
            default:
                "\(place) answered unexpectedly (\(status)): check that the URL is the right service"
            }
        let cause: Unavailability.Cause =
            switch status {
            case 429, 503: .busy
            case 500...: .server
            default: .answer
            }
        return Unavailability(
            message,
            cause: cause,
            host: place,
            retryAfter: retryAfter(now: now),
            ambiguous: Self.mayHaveActed(status: status),
            sentAgo: sinceLeft
        )
    }

    /// Returns the `Unavailability` for a success whose content is not as expected.
    func unreadable(_ what: String) -> Unavailability {
        Unavailability(
            "\(place) answered \(status) without \(what)",
            cause: .answer,
            host: place,
            ambiguous: true,
            sentAgo: sinceLeft
        )
    }

    /// Returns the `Unavailability` for a success that has a new refresh token but lacks something else. The server has
    /// answered, so the outcome is not ambiguous.
    func missingAccessToken(_ what: String) -> Unavailability {
        Unavailability(
            "\(place) answered \(status) with a new refresh token and without \(what)",
            cause: .answer,
            host: place
        )
    }

    /// Returns the pause that `Retry-After` asks for, limited to 1 s…1 h. Returns `nil` if the header is missing or
    /// invalid.
    func retryAfter(now: WallTime) -> Duration? {
        guard let text = header("retry-after") else { return nil }
        let asked: Duration
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) {
            asked = .seconds(Int64(text) ?? .max >> 20)
        } else if let time = HTTPDate.parse(text) {
            // The server made the date with its own clock, which the `Date` header shows.
            asked = time - (header("date").flatMap(HTTPDate.parse) ?? now)
        } else {
            return nil
        }
        return min(max(asked, .seconds(1)), .seconds(3_600))
    }
}
