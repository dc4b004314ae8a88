package import JunctionProtocol
import JunctionSession

/// Who may do what.
package struct AccessPolicy: Equatable, Sendable {
    /// The first rule that matches a caller decides.
    package let rules: [AccessRule]
    /// The user that the daemon runs as, who may do everything, as root may.
    package let daemonUser: UInt32

    /// - Parameter rules: without any, members of the socket's group may do everything but manage.
    package init(rules: [AccessRule], daemonUser: UInt32) {
        self.rules = rules
        self.daemonUser = daemonUser
    }

    /// Whether callers' units have to be looked up at all.
    var namesUnits: Bool { rules.contains { $0.unit != nil } }

    /// What a caller may do.
    func grant(to peer: Peer) -> AccessGrant { decision(about: peer).grant }

    /// What a caller may do, and what that comes from.
    func decision(about peer: Peer) -> AccessDecision {
        if peer.user == 0 { return AccessDecision(.everything, .root) }
        if peer.user == daemonUser { return AccessDecision(.everything, .daemonUser) }
        guard !rules.isEmpty else {
            return peer.isInSocketGroup ? AccessDecision(.everythingButManage, .socketGroup) : .nothing
        }
        for (index, rule) in rules.enumerated() {
            switch rule.match(with: peer) {
            case .no: continue
            case .yes:
                let grant = AccessGrant(rule.allow, dependsOnUnit: rule.unit != nil)
                return AccessDecision(grant, .entry, by: (index, rule))
            // It would decide, for or against, and what is said further down was written for those it is not about. Whoever
            // it may not be about is not told what it says.
            case .unknown: return AccessDecision(.nothing, .unitUnknown)
            }
        }
        return .nothing
    }
}

/// What a policy says about one caller.
struct AccessDecision {
    let grant: AccessGrant
    let basis: Basis
    /// The rule that decided, and its place among them.
    let entry: (index: Int, rule: AccessRule)?

    enum Basis: Equatable {
        case root
        case daemonUser
        case socketGroup
        case entry
        /// A rule about a unit would decide, and the caller's is not known.
        case unitUnknown
        /// No rule is about the caller.
        case none
    }

    static let nothing = AccessDecision(.nothing, .none)

    init(_ grant: AccessGrant, _ basis: Basis, by entry: (index: Int, rule: AccessRule)? = nil) {
        self.grant = grant
        self.basis = basis
        self.entry = entry
    }
}

/// One entry of the policy: whom it is for, and what they may do.
package struct AccessRule: Equatable, Sendable {
    /// What they may do; nothing at all is possible too.
    package var allow: Set<Capability>
    /// The system unit of the calling process.
    package var unit: String?
    /// The caller's user id.
    package var user: UInt32?
    /// The caller's primary group, or one of the supplementary ones.
    package var group: UInt32?
    /// It names a user or group that does not exist: it stays in the list, and decides for nobody.
    package var matchesNobody = false

    /// Every condition that is given must hold; a rule without any is for everybody.
    package init(allow: Set<Capability>, unit: String? = nil, user: UInt32? = nil, group: UInt32? = nil) {
        self.allow = allow
        self.unit = unit
        self.user = user
        self.group = group
    }

    fileprivate enum Match {
        case no
        case yes
        /// All but the unit matches, and the unit of the caller is not known.
        case unknown
    }

    fileprivate func match(with peer: Peer) -> Match {
        if matchesNobody { return .no }
        if let user, user != peer.user { return .no }
        if let group, !peer.groups.contains(group) { return .no }
        guard let unit else { return .yes }
        return switch peer.membership {
        case .unknown: .unknown
        case .inNone: .no
        case .inUnit(let name): name == unit ? .yes : .no
        }
    }
}

/// What one caller may do, as long as the policy stays.
struct AccessGrant: Equatable, Sendable {
    // One bit for each capability: this is asked on every request.
    private let bits: UInt8
    /// It was given to a unit, so it ends with the process that was found in the unit.
    let dependsOnUnit: Bool

    static let everything = AccessGrant(Set(Capability.allCases))
    static let everythingButManage = AccessGrant(Set(Capability.allCases).subtracting([.manage]))
    static let nothing = AccessGrant([])

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
