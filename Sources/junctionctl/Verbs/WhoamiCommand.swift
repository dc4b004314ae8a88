import ArgumentParser
import JunctionClient
import JunctionProtocol

struct WhoamiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Tells who you are to the daemon, what you may do, and which [[access]] entry gave you that.",
        discussion:
            "Everybody who can open the socket may ask. The rights are the daemon's word, by what the kernel told it."
    )

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let caller = try options.ask(AccessWhoami.self, NoParams())
        try options.show(caller) { CallerText($0, names: .ofThisMachine).paragraph }
    }
}

/// A caller and its rights in words.
struct CallerText {
    let caller: CallerDescription
    let names: AccountFiles

    init(_ caller: CallerDescription, names: AccountFiles) {
        self.caller = caller
        self.names = names
    }

    /// A few lines: the caller, its rights and the reason.
    var paragraph: String {
        let capabilities = caller.capabilities.map(\.rawValue).joined(separator: ", ")
        let rows: [(name: String, text: String)] = [
            ("user", user(caller.user)),
            ("process", "\(caller.process)"),
            ("unit", caller.unit ?? "none that is known"),
            ("may", capabilities.isEmpty ? "nothing" : capabilities),
            ("because", reason),
        ]
        return rows.asTable
    }

    private var reason: String {
        switch caller.basis {
        case .root: "root may do everything"
        case .daemonUser: "the daemon runs as this user"
        case .socketGroup: "there are no [[access]] entries, and you are in the socket's group"
        case .entry: caller.entry.map(words) ?? "an [[access]] entry says so"
        case .unitUnknown:
            "an [[access]] entry for a unit would decide, but the daemon cannot find the unit of this process"
        case .unmapped:
            "an [[access]] entry for the user or group 65534 would decide, and that number names no caller reliably"
        case .none: "no [[access]] entry is about you; the socket's group counts only while there is no entry"
        default: caller.basis.rawValue
        }
    }

    /// Names an entry by its index in the daemon's list, from 0 on, and by what it matches.
    private func words(_ entry: CallerDescription.Entry) -> String {
        let named = [
            entry.unit.map { "unit \($0)" }, entry.user.map { "user \(user($0))" },
            entry.group.map { "group \(group($0))" },
        ].compactMap(\.self)
        return
            "access[\(entry.index)] decides, which is about \(named.isEmpty ? "everybody" : named.joined(separator: " and "))"
    }

    private func user(_ number: Int) -> String {
        UInt32(exactly: number).flatMap(names.name(ofUser:)).map { "\($0) (\(number))" } ?? "\(number)"
    }

    private func group(_ number: Int) -> String {
        UInt32(exactly: number).flatMap(names.name(ofGroup:)).map { "\($0) (\(number))" } ?? "\(number)"
    }
}
