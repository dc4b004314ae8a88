import Glibc
import Synchronization

/// The services that know a machine's users, or its groups, as `nsswitch.conf` lists them.
///
/// glibc asks one after the other, and what it reports is what the last one said: with `files sss systemd` and a server of
/// names that is away, it says of each of that server's users that there is none. So whoever is not found is looked for once
/// more, strictly: the first service that does not answer ends it.
struct NameServices: Sendable {
    /// What the file calls the kind of name: `passwd`, `group`.
    let database: String
    /// The file that lists the services.
    let path: String

    static let usualPath = "/etc/nsswitch.conf"

    /// How libc is asked: with space for the answer, and a place for whether there was one.
    typealias LookUp<Account> = (
        UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<Account>?>
    ) -> Int32

    /// Whether the account exists; it throws when that is not known.
    func find<Account>(_ lookUp: LookUp<Account>) throws(AccountDirectory.LookupFailed) -> Bool {
        // What libc is told here holds for the whole process: nobody looks anybody up meanwhile.
        try Self.turn.withLock { (_) throws(AccountDirectory.LookupFailed) in
            if try found(lookUp) { return true }
            let services = listed
            guard let tell = Self.tell else { return false }
            guard tell(database, Self.strict(services)) == 0 else {
                throw AccountDirectory.LookupFailed("\(path) lists no service that could be asked")
            }
            defer { _ = tell(database, services) }
            return try found(lookUp)
        }
    }

    /// Asks again with more space until the answer, with all members of a group, fits.
    private func found<Account>(_ lookUp: LookUp<Account>) throws(AccountDirectory.LookupFailed) -> Bool {
        var size = 4_096
        while size <= 4 << 20 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { room.deallocate() }
            var result: UnsafeMutablePointer<Account>?
            // A service that is away may leave it as it was, and glibc reports what it finds there: zero would be "none".
            errno = Self.untouched
            switch lookUp(room, size, &result) {
            // Only this is "there is none". The manual allows ENOENT and ESRCH for it, too, but in glibc these are what the
            // last thing that failed has left behind, such as the file of accounts itself.
            case 0: return result != nil
            case ERANGE, EINTR: size *= 4
            case Self.untouched: throw AccountDirectory.LookupFailed("no name service answers")
            case let failure: throw AccountDirectory.LookupFailed(String(cString: strerror(failure)))
            }
        }
        throw AccountDirectory.LookupFailed("the account is too large")
    }

    /// What no look-up of a name fails with.
    private static let untouched = EXFULL

    // MARK: What the file lists

    /// The services as the file has them; where it says nothing, those that glibc takes.
    private var listed: String {
        let text = SmallFile.bytes(at: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let lines = text.split(whereSeparator: \.isNewline).map { $0.prefix { $0 != "#" } }
        for line in lines.reversed() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ !$0.isWhitespace }) == database else { continue }
            return String(parts[1])
        }
        return "files"
    }

    /// The same services, with the end at the first that does not answer.
    static func strict(_ services: String) -> String {
        let rule = "UNAVAIL=return TRYAGAIN=return"
        var words: [String] = []
        var (isInBrackets, isRuleDue) = (false, false)
        let spaced = services.map { "[]".contains($0) ? " \($0) " : "\($0)" }.joined()
        for word in spaced.split(whereSeparator: \.isWhitespace) {
            switch word {
            case "[":
                (isInBrackets, isRuleDue) = (true, false)
            case "]":
                // After what stands there: the last word on a status decides.
                words.append(rule)
                isInBrackets = false
            default:
                if isRuleDue { words.append("[\(rule)]") }
                isRuleDue = !isInBrackets
            }
            words.append(String(word))
        }
        return (isRuleDue ? words + ["[\(rule)]"] : words).joined(separator: " ")
    }

    // MARK: libc

    private static let turn = Mutex(())

    private typealias Tell = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32

    /// `__nss_configure_lookup` of <nss.h>, which Swift does not see. Afterwards libc does not look any more whether the
    /// file has changed: for accounts we do, and for hosts a restart does.
    private static let tell: Tell? = dlsym(nil, "__nss_configure_lookup").map { unsafeBitCast($0, to: Tell.self) }
}
