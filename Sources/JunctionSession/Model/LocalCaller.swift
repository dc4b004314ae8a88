/// The local program that began a device sign-in, as the kernel and the service manager named it. It is stored with the codes, so
/// that its right to sign in can be judged again after a restart.
package struct LocalCaller: Hashable, Sendable {
    /// The effective user id.
    package var user: UInt32
    /// The primary group and the supplementary ones; of more than `mostGroups` those with the lowest numbers.
    package let groups: Set<UInt32>
    /// What was known of its system unit.
    package var membership: UnitMembership

    package static let mostGroups = 256
    /// False if groups may have been left out; `mostGroups` count as too many. Such a caller has no right after a restart.
    package var isComplete: Bool { groups.count < Self.mostGroups }

    package init(user: UInt32, groups: Set<UInt32> = [], membership: UnitMembership = .unknown) {
        self.user = user
        self.groups = groups.count > Self.mostGroups ? Set(groups.sorted().prefix(Self.mostGroups)) : groups
        self.membership = membership
    }
}

/// Whether a process belongs to a system unit.
package enum UnitMembership: Hashable, Sendable {
    /// Nobody has looked, or it cannot be learnt: it may be in any.
    case unknown
    case inNone
    /// By the name that the service manager knows.
    case inUnit(String)
}
