import Glibc
import Synchronization

/// The services that know a machine's users or groups, in the order of `nsswitch.conf`.
///
/// glibc asks the services one after the other and returns the result of the last one. With `files sss systemd` and an
/// `sss` that cannot reach its server, glibc returns "no such user" for each of that server's users. So if an account
/// is not found, the daemon looks it up again with strict rules: the look-up fails at the first service that does not
/// answer.
struct NameServices: Sendable {
    /// The name of the database in the file: `passwd` or `group`.
    let database: String
    /// The file that lists the services.
    let path: String

    static let usualPath = "/etc/nsswitch.conf"

    /// A libc look-up. Its parameters are the buffer, the buffer's size, and the pointer to the result.
    typealias LookUp<Account> = (
        UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<Account>?>
    ) -> Int32

    /// Returns whether the account exists. It throws if that is unknown.
    func find<Account>(_ lookUp: LookUp<Account>) throws(AccountDirectory.LookupFailed) -> Bool {
        // The services that are set here apply to the whole process, so only one look-up runs at a time.
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

    /// Looks the account up with a growing buffer until the answer fits, which may contain all members of a group.
    private func found<Account>(_ lookUp: LookUp<Account>) throws(AccountDirectory.LookupFailed) -> Bool {
        var size = 4_096
        while size <= 4 << 20 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { room.deallocate() }
            var result: UnsafeMutablePointer<Account>?
            // If a service is unreachable, it may leave `errno` unchanged, and glibc returns its value. Zero would mean
            // "no such account".
            errno = Self.untouched
            switch lookUp(room, size, &result) {
            // Only this result means "no such account". The manual page allows ENOENT and ESRCH for it, too. But glibc
            // returns those when an earlier step failed, for example when the file of accounts could not be opened.
            case 0: return result != nil
            case ERANGE, EINTR: size *= 4
            case Self.untouched: throw AccountDirectory.LookupFailed("no name service answers")
            case let failure: throw AccountDirectory.LookupFailed(String(cString: strerror(failure)))
            }
        }
        throw AccountDirectory.LookupFailed("the account is too large")
    }

    /// An error code that no look-up returns.
    private static let untouched = EXFULL

    // MARK: What the file lists

    /// The services that the file lists, or glibc's default if the file lists none.
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

    /// Returns the same services, with the rule that the look-up ends at the first one that does not answer.
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
                // The rule goes after the existing ones, because the last rule for a status decides.
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

    /// `__nss_configure_lookup` of <nss.h>, which Swift cannot import. After a call, libc ignores changes of the file.
    /// `NameServices` reads the file for accounts; for hosts, a change takes effect after a restart.
    private static let tell: Tell? = dlsym(nil, "__nss_configure_lookup").map { unsafeBitCast($0, to: Tell.self) }
}
