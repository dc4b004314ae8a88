package import JunctionProtocol

/// An `[[access]]` entry: which callers it matches, and what they may do.
///
/// All keys of an entry must match, so an entry without keys matches every caller. This is useful for the last entry.
/// The daemon notes it at the start, because it may be a mistake.
package struct AccessEntry: Equatable, Sendable {
    /// The rights of the callers. If the set is empty, they may do nothing, even if a later entry matches.
    package var allow: Set<Capability>
    /// The system unit of the calling process.
    package var unit: String?
    /// The calling user, by name or by number.
    package var user: String?
    /// The caller's primary or any supplementary group, by name or by number.
    package var group: String?

    /// Whether the entry names no unit, user or group, and so matches every caller.
    package var isAboutEverybody: Bool { unit == nil && user == nil && group == nil }
}
