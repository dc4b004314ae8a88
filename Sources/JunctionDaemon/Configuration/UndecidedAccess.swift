/// The name service could not look up the user or the group of an access entry. The configuration is not wrong, and a
/// later try may succeed.
package struct UndecidedAccess: Error, Equatable, CustomStringConvertible {
    /// The entry with its place, such as `/etc/junctiond/junctiond.toml:7: access[1]`.
    package var entry: String
    package var failure: AccountDirectory.LookupFailed

    package init(entry: String, _ failure: AccountDirectory.LookupFailed) {
        self.entry = entry
        self.failure = failure
    }

    package var description: String {
        "\(entry): its user or group could not be looked up (\(failure.reason)). That may pass by itself; see whether the name "
            + "service works"
    }
}
