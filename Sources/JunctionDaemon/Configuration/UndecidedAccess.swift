/// Whom an access entry is about could not be found out. Nothing is wrong with the configuration, and asking later may help.
package struct UndecidedAccess: Error, Equatable, CustomStringConvertible {
    /// The entry, such as `access[1]`.
    package var key: String
    package var failure: AccountDirectory.LookupFailed

    package init(key: String, _ failure: AccountDirectory.LookupFailed) {
        self.key = key
        self.failure = failure
    }

    /// One line.
    package var description: String {
        "\(key): its user or group could not be looked up (\(failure.reason)). That may pass by itself; see whether the name "
            + "service works"
    }
}
