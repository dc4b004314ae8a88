import JunctionSecret
import JunctionSession
import Synchronization

/// The Sign-In Token that a link code brought, until its exchange is decided.
///
/// A code is good once, and what it brings is exchanged by a second request: a trouble that passes between the two would
/// otherwise spend the code for nothing. Only the newest is kept, for about as long as a code itself is good.
final class LinkedToken: Sendable {
    private let kept = Mutex<Kept?>(nil)

    private struct Kept {
        var code: String
        var token: SharedSecret
        var since: Uptime
    }

    static let longest: Duration = .seconds(3_600)

    func keep(_ token: SharedSecret, of code: LinkCode, at now: Moment) {
        kept.withLock { $0 = Kept(code: code.text, token: token, since: now.uptime) }
    }

    /// What this code brought earlier; one that is too old is let go of, whoever asks.
    func token(of code: LinkCode, at now: Moment) -> SharedSecret? {
        kept.withLock { kept in
            if let since = kept?.since, now.uptime - since > Self.longest { kept = nil }
            return kept?.code == code.text ? kept?.token : nil
        }
    }

    /// The exchange is decided.
    func forget(_ code: LinkCode) {
        kept.withLock { kept in
            if kept?.code == code.text { kept = nil }
        }
    }
}
