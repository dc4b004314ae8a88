/// Describes the caller, as the kernel identifies it, and its capabilities.
package enum AccessWhoami: MethodDefinition {
    package typealias Params = NoParams
    package typealias Answer = CallerDescription

    package static let name: StaticString = "access.whoami"
    // Every caller may call this, so that a caller without capabilities can find out why it has none.
    package static let capability: Capability? = nil
    package static let onlyAnswers = true
    package static let summary = "Says who the caller is, as the kernel tells it, what it may do, and what gave it that"
}

/// A caller's identity and capabilities.
public struct CallerDescription: Hashable, Sendable {
    /// The user id of the process that connected.
    public var user: Int
    /// The id of the process that connected.
    public var process: Int
    /// The system unit of that process; `nil` if it is in none, or the unit is not known.
    public var unit: String?
    /// The present capabilities.
    public var capabilities: [Capability]
    /// Where the capabilities come from.
    public var basis: Basis
    /// The entry of the configuration that decided, if one did.
    public var entry: Entry?

    /// Makes a description.
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

    /// One capability.
    public struct Capability: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes a capability from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        static let known = JunctionProtocol.Capability.allCases.map { Capability(rawValue: $0.rawValue) }
    }

    /// Where the capabilities come from.
    public struct Basis: WireWord {
        /// The word on the wire.
        public var rawValue: String
        /// Makes a basis from any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user is root, who has every capability.
        public static let root = Basis(rawValue: "root")
        /// The user is the daemon's own, who has every capability.
        public static let daemonUser = Basis(rawValue: "daemonUser")
        /// There are no entries, and the caller is in the socket's group.
        public static let socketGroup = Basis(rawValue: "socketGroup")
        /// An entry of the configuration decided.
        public static let entry = Basis(rawValue: "entry")
        /// An entry for a unit would decide, but the caller's unit is not known: the caller has no capability.
        public static let unitUnknown = Basis(rawValue: "unitUnknown")
        /// An entry for the user or group 65534 would decide, which the kernel reports for every id that it cannot map:
        /// the caller has no capability.
        public static let unmapped = Basis(rawValue: "unmapped")
        /// No entry matches the caller: it has no capability.
        public static let none = Basis(rawValue: "none")

        static let known: [Basis] = [.root, .daemonUser, .socketGroup, .entry, .unitUnknown, .unmapped, .none]
    }

    /// One `[[access]]` entry, by its conditions.
    public struct Entry: Hashable, Sendable {
        /// The index of the entry, counted from 0, as in the daemon's messages.
        public var index: Int
        /// The unit that the entry names.
        public var unit: String?
        /// The id of the user that the entry names.
        public var user: Int?
        /// The id of the group that the entry names.
        public var group: Int?

        /// Makes an entry.
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
