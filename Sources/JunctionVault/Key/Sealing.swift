/// The sealing key, or the reason why there is none.
package enum Sealing: Sendable {
    case key(SealingKey)
    /// The expected key is missing: the stored session stays locked, and no record can be sealed.
    ///
    /// - Parameters:
    ///   - origin: where the key would come from: `host+tpm2`, `tpm2`, `host` or `file`.
    ///   - remedy: what is missing, and how to provide it.
    case absent(origin: String, remedy: String)

    var key: SealingKey? {
        switch self {
        case .key(let key): key
        case .absent: nil
        }
    }

    var origin: String {
        switch self {
        case .key(let key): key.origin
        case .absent(let origin, _): origin
        }
    }
}
