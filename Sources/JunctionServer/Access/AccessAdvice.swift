import JunctionProtocol
import JunctionText

/// Advice for a caller: how it gets a capability that the policy does not give to it.
///
/// The advice contains nothing about the session. It names only what the caller can also learn from `access.whoami`.
struct AccessAdvice {
    private let peer: Peer
    private let capability: Capability
    private let policy: AccessPolicy

    init(_ peer: Peer, lacking capability: Capability, _ policy: AccessPolicy) {
        self.peer = peer
        self.capability = capability
        self.policy = policy
    }

    /// What to do. `nil` if no entry can help, because the policy gives the right to the unit of a process that has
    /// ended.
    var remedy: String? {
        let decision = policy.decision(about: peer)
        guard !decision.rights.allows(capability) else { return nil }
        if peer.actsForUnit { return unitEntry(beside: decision.rights) }
        return switch decision.basis {
        case .root, .daemonUser: nil
        case .socketGroup: firstEntry(beside: decision.rights)
        case .entry:
            "access[\(decision.entry?.index ?? 0)], counted from 0, decides about you and does not allow it: add "
                + "\"\(capability.rawValue)\" to its list, or \(addition(before: true, beside: decision.rights))"
        case .unitUnknown:
            "an entry for a unit would decide, but the daemon cannot find the unit of this process: \(addition(before: true))"
        case .unmapped:
            "an entry for the user or group 65534 (nobody) would decide, and the kernel reports this number for everyone "
                + "that it cannot name to the daemon: \(addition(before: true))"
        case .none where policy.rules.isEmpty: capability == .manage ? firstEntry(beside: decision.rights) : membership
        case .none where peer.isInSocketGroup:
            "there are [[access]] entries, so the socket's group gives nothing, and no entry is about you: \(addition)"
        case .none: "no [[access]] entry is about you: \(addition)"
        }
    }

    /// The daemon does not know which user a unit will have, so an entry by user or group that comes first refuses it.
    private func unitEntry(beside present: AccessRights) -> String {
        "add to the daemon's configuration, before all other entries, the lines '[[access]]', "
            + "'allow = [\(rights(beside: present))]' and 'unit = \"\(peer.unit ?? "")\"', and run "
            + "'\(Self.reload)'"
            + (policy.rules.isEmpty ? "; as soon as there is an entry, the socket's group alone gives nothing" : "")
    }

    private var addition: String { addition(before: false) }

    private func firstEntry(beside present: AccessRights) -> String {
        "ask as root, or \(addition(before: false, beside: present)); the first entry takes the rights of the socket's group away, so add an entry for "
            + "each other caller, too"
    }

    private static let reload = "systemctl reload \(InstanceName.ofThisProcess.unit)"

    /// Names the entry to add: for the caller's service, or else for its user.
    ///
    /// - Parameter present: what the caller may do now. An entry that decides instead has to give that, too.
    private func addition(before isFirst: Bool, beside present: AccessRights = .nothing) -> String {
        guard service != nil || peer.user != Peer.unmapped else {
            return
                "run the caller as a user other than nobody, and the daemon outside of containers and without PrivateUsers="
        }
        let place = isFirst ? ", before the entry that decides now," : ""
        return
            "add to the daemon's configuration\(place) the lines '[[access]]', 'allow = [\(rights(beside: present))]' and '\(condition)', and "
            + "run '\(Self.reload)'"
    }

    /// The missing capability, and those that the caller has.
    private func rights(beside present: AccessRights) -> String {
        Capability.allCases.filter { $0 == capability || present.allows($0) }
            .map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    }

    /// The caller's system service. A login session also has a unit, but the name of that unit changes with each login.
    private var service: String? {
        peer.unit.flatMap { $0.hasSuffix(".service") && !$0.hasPrefix("user@") ? $0 : nil }
    }

    private var condition: String {
        service.map { "unit = \"\($0)\"" } ?? "user = \"\(peer.user)\""
    }

    private var membership: String {
        service.map { "give \($0) the group of the socket by SupplementaryGroups=, and restart it" }
            ?? "have your user added to the group of the socket, and log in again"
    }
}
