/// Says who the caller is, by the kernel's word, and what it may do.
package enum AccessWhoami: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = CallerDescription

    package static let name: StaticString = "access.whoami"
    // Whoever is refused everything else has to be able to find out why.
    package static let capability: Capability? = nil
    package static func isRepeatable(_ params: Params) -> Bool { true }
    package static let summary = "Says who the caller is, as the kernel tells it, what it may do, and what gave it that"
}

/// Who a caller is, and what it may do.
public struct CallerDescription: Hashable, Sendable {
    /// The user id of whoever connected.
    public var user: Int
    /// The process that connected.
    public var process: Int
    /// The system unit of that process; nothing when it is in none, or that cannot be learnt.
    public var unit: String?
    /// What it may do now.
    public var capabilities: [Capability]
    /// What that comes from.
    public var basis: Basis
    /// The entry of the configuration that decided, where one did.
    public var entry: Entry?

    /// Puts a description together.
    public init(
        user: Int,
        process: Int,
        unit: String? = nil,
        capabilities: [Capability],
        basis: Basis,
        entry: Entry? = nil
    ) {
        self.user = user
        self.process = process
        self.unit = unit
        self.capabilities = capabilities
        self.basis = basis
        self.entry = entry
    }

    /// One thing that a caller may do, in one word.
    public struct Capability: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        static let known = JunctionProtocol.Capability.allCases.map { Capability(rawValue: $0.rawValue) }
    }

    /// What rights come from, in one word.
    public struct Basis: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Takes any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user is root, who may do everything.
        public static let root = Basis(rawValue: "root")
        /// The user is the daemon's own, who may do everything.
        public static let daemonUser = Basis(rawValue: "daemonUser")
        /// There are no entries, and the caller is in the socket's group.
        public static let socketGroup = Basis(rawValue: "socketGroup")
        /// An entry of the configuration decided.
        public static let entry = Basis(rawValue: "entry")
        /// An entry about a unit would decide, and the caller's unit cannot be learnt: nothing is allowed.
        public static let unitUnknown = Basis(rawValue: "unitUnknown")
        /// Nothing is about this caller: nothing is allowed.
        public static let none = Basis(rawValue: "none")

        static let known: [Basis] = [.root, .daemonUser, .socketGroup, .entry, .unitUnknown, .none]
    }

    /// One `[[access]]` entry, by what it names.
    public struct Entry: Hashable, Sendable {
        /// Its place among the entries; the first one has 0, as in the daemon's own messages.
        public var index: Int
        /// The unit that it is about.
        public var unit: String?
        /// The user that it is about, by number.
        public var user: Int?
        /// The group that it is about, by number.
        public var group: Int?

        /// Puts an entry together.
        public init(index: Int, unit: String? = nil, user: Int? = nil, group: Int? = nil) {
            self.index = index
            self.unit = unit
            self.user = user
            self.group = group
        }
    }
}

extension CallerDescription: WireObject {
    package static let fields = Fields(
        at: "result",
        CallerDescription.init(user:process:unit:capabilities:basis:entry:),
        Field("user", \.user, .count, "the user id of whoever connected"),
        Field("process", \.process, .count, "the process that connected"),
        Field("unit", \.unit, orNull: .text, "the system unit of that process, where it is in one that can be learnt"),
        Field("capabilities", \.capabilities, .words(Capability.known), "what the caller may do now"),
        Field("basis", \.basis, .word(Basis.known), "what that comes from"),
        Field("entry", \.entry, ifPresent: .object, "the [[access]] entry that decided")
    )
}

extension CallerDescription.Entry: WireObject {
    package static let fields = Fields(
        at: "entry",
        CallerDescription.Entry.init(index:unit:user:group:),
        Field("index", \.index, .count, "its place among the entries, from 0 on"),
        Field("unit", \.unit, ifPresent: .text, "the unit that it is about"),
        Field("user", \.user, ifPresent: .count, "the user that it is about, by number"),
        Field("group", \.group, ifPresent: .count, "the group that it is about, by number")
    )
}
