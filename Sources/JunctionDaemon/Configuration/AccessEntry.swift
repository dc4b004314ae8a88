package import JunctionProtocol

/// One entry of `[[access]]`: whom it is about, and what they may do.
///
/// The keys of one entry must all match, so an entry without any is about everybody: useful as the last one, and noted
/// at start because it may be a mistake.
package struct AccessEntry: Equatable, Sendable {
    /// Empty: they may do nothing, whatever a later entry says.
    package var allow: Set<Capability>
    /// The system unit of the calling process.
    package var unit: String?
    /// The calling user, by name or by number.
    package var user: String?
    /// The caller's primary or any supplementary group, by name or by number.
    package var group: String?

    package init(allow: Set<Capability>, unit: String? = nil, user: String? = nil, group: String? = nil) {
        self.allow = allow
        self.unit = unit
        self.user = user
        self.group = group
    }

    /// Whether nobody in particular is named.
    package var isAboutEverybody: Bool { unit == nil && user == nil && group == nil }
}
