import JunctionSession

extension HttpAnswer {
    /// Whether a server that answers so may have acted on the request. A 503 or a 429 is its own no.
    static func mayHaveActed(status: Int) -> Bool {
        (200..<300).contains(status) || (status >= 500 && status != 503)
    }

    /// What an answer comes to that is neither the one hoped for nor a verdict.
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

    /// What a success comes to whose content is not what it should be.
    func unreadable(_ what: String) -> Unavailability {
        Unavailability(
            "\(place) answered \(status) without \(what)",
            cause: .answer,
            host: place,
            ambiguous: true,
            sentAgo: sinceLeft
        )
    }

    /// What a success comes to that has a new refresh token, and not what has to come with it. The server has answered, so
    /// nothing is unknown.
    func shortfall(_ what: String) -> Unavailability {
        Unavailability(
            "\(place) answered \(status) with a new refresh token and without \(what)",
            cause: .answer,
            host: place
        )
    }

    /// What `Retry-After` asks for, 1 s…1 h; `nil` without a readable one.
    func retryAfter(now: WallTime) -> Duration? {
        guard let text = header("retry-after") else { return nil }
        let asked: Duration
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            asked = .seconds(Int64(text) ?? .max >> 20)
        } else if let time = HttpDate.parse(text) {
            // The server's own clock, where it shows it, is the one that its date was made with.
            asked = time - (header("date").flatMap(HttpDate.parse) ?? now)
        } else {
            return nil
        }
        return min(max(asked, .seconds(1)), .seconds(3_600))
    }
}
