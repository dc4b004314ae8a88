/// The local program that began a device sign-in, as the kernel and the service manager identify it. It is stored with
/// the codes, so that its right to sign in can be checked after a restart.
package struct LocalCaller: Hashable, Sendable {
    package var user: UInt32
    /// The primary group and the supplementary ones. If there are more than `mostGroups`, those with the lowest
    /// numbers.
    package let groups: Set<UInt32>
    package var membership: UnitMembership

    package static let mostGroups = 256
    /// False if groups may have been left out, also at exactly `mostGroups`. Such a caller has no right after a
    /// restart.
    package var isComplete: Bool { groups.count < Self.mostGroups }

    package init(user: UInt32, groups: Set<UInt32> = [], membership: UnitMembership = .unknown) {
        self.user = user
        self.groups = groups.count > Self.mostGroups ? Set(groups.sorted().prefix(Self.mostGroups)) : groups
        self.membership = membership
    }
}

package enum UnitMembership: Hashable, Sendable {
    /// The daemon has not determined it, or cannot. The process may be in any unit.
    case unknown
    case inNone
    /// The unit's name in the service manager.
    case inUnit(String)
}
