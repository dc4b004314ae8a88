package import JunctionProtocol
import JunctionSession

/// The policy: which callers have which capabilities.
package struct AccessPolicy: Equatable, Sendable {
    /// The rules in order. The first rule that matches a caller decides.
    package let rules: [AccessRule]
    /// The user that the daemon runs as. This user and root have every capability.
    package let daemonUser: UInt32

    /// - Parameter rules: if empty, members of the socket's group have every capability except `manage`.
    package init(rules: [AccessRule], daemonUser: UInt32) {
        self.rules = rules
        self.daemonUser = daemonUser
    }

    /// Whether a rule names a unit, so that the callers' units have to be looked up.
    var namesUnits: Bool { rules.contains { $0.unit != nil } }

    func rights(of peer: Peer) -> AccessRights { decision(about: peer).rights }

    /// Returns the capabilities of a caller, and which rule or default they come from.
    func decision(about peer: Peer) -> AccessDecision {
        if !peer.actsForUnit {
            if peer.user == 0 { return AccessDecision(.everything, .root) }
            if peer.user == daemonUser, peer.user != Peer.unmapped { return AccessDecision(.everything, .daemonUser) }
        }
        guard !rules.isEmpty else {
            return peer.isInSocketGroup ? AccessDecision(.everythingButManage, .socketGroup) : .nothing
        }
        for (index, rule) in rules.enumerated() {
            switch rule.match(with: peer) {
            case .no: continue
            case .yes:
                let rights = AccessRights(rule.allow, dependsOnUnit: rule.unit != nil && !peer.actsForUnit)
                return AccessDecision(rights, .entry, by: (index, rule))
            // Whether this rule matches is unknown. So neither it nor a later rule can apply, and the caller gets
            // nothing.
            case .unitUnknown: return AccessDecision(.nothing, .unitUnknown)
            case .unmapped: return AccessDecision(.nothing, .unmapped)
            }
        }
        return .nothing
    }
}

/// The policy's decision about one caller.
struct AccessDecision {
    let rights: AccessRights
    let basis: Basis
    /// The rule that decided, and its index.
    let entry: (index: Int, rule: AccessRule)?

    enum Basis: String, CaseIterable {
        case root
        case daemonUser
        case socketGroup
        case entry
        /// The first rule that may match cannot be evaluated. Either the rule names a unit, and the daemon does not know
        /// the caller's. Or it names a user or group, and the service manager loads a credential for a unit whose user
        /// the daemon does not know yet.
        case unitUnknown
        /// A rule for the id `Peer.unmapped` would decide, which names no caller reliably.
        case unmapped
        /// No rule matches the caller.
        case none
    }

    static let nothing = AccessDecision(.nothing, .none)

    init(_ rights: AccessRights, _ basis: Basis, by entry: (index: Int, rule: AccessRule)? = nil) {
        self.rights = rights
        self.basis = basis
        self.entry = entry
    }
}

/// One rule of the policy: which callers it matches, and their capabilities.
package struct AccessRule: Equatable, Sendable {
    /// The capabilities of these callers. The set may be empty.
    package var allow: Set<Capability>
    package var unit: String?
    package var user: UInt32?
    /// The caller's primary group, or one of the supplementary ones.
    package var group: UInt32?
    /// Whether the rule names a user or group that does not exist. Such a rule keeps its index and matches no caller.
    package var matchesNobody = false

    /// Makes a rule. All given conditions must hold; a rule without conditions matches every caller.
    package init(allow: Set<Capability>, unit: String? = nil, user: UInt32? = nil, group: UInt32? = nil) {
        self.allow = allow
        self.unit = unit
        self.user = user
        self.group = group
    }

    fileprivate enum Match {
        case no
        case yes
        /// All conditions that can be checked match. One cannot be checked: the unit of the caller is not known, or the
        /// credential is for a unit whose user is not known.
        case unitUnknown
        /// All conditions match, and the rule names `Peer.unmapped`.
        case unmapped
    }

    fileprivate func match(with peer: Peer) -> Match {
        if matchesNobody { return .no }
        if peer.actsForUnit, user != nil || group != nil {
            return unit == nil || unit == peer.unit ? .unitUnknown : .no
        }
        if let user, user != peer.user { return .no }
        if let group, !peer.groups.contains(group) { return .no }
        let ofAccount: Match = user == Peer.unmapped || group == Peer.unmapped ? .unmapped : .yes
        guard let unit else { return ofAccount }
        return switch peer.membership {
        case .unknown: .unitUnknown
        case .inNone: .no
        case .inUnit(let name): name == unit ? ofAccount : .no
        }
    }
}

/// The capabilities of one caller under the present policy.
struct AccessRights: Equatable, Sendable {
    // One bit for each capability, because the daemon checks this on every request.
    private let bits: UInt8
    /// Whether a rule for a unit gave the capabilities. Such rights end with the process that was found in the unit.
    let dependsOnUnit: Bool

    static let everything = AccessRights(Set(Capability.allCases))
    static let everythingButManage = AccessRights(Set(Capability.allCases).subtracting([.manage]))
    static let nothing = AccessRights([])

    init(_ capabilities: Set<Capability>, dependsOnUnit: Bool = false) {
        bits = capabilities.reduce(0) { $0 | $1.bit }
        self.dependsOnUnit = dependsOnUnit
    }

    var isEmpty: Bool { bits == 0 }

    func allows(_ capability: Capability) -> Bool { bits & capability.bit != 0 }
}

extension Capability {
    fileprivate var bit: UInt8 {
        switch self {
        case .status: 1
        case .token: 2
        case .api: 4
        case .handle: 8
        case .manage: 16
        }
    }
}
