/// A word of a list that a newer daemon may extend. Unknown words are kept, not refused.
public protocol WireWord: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == String {
    /// Makes a value from any word.
    init(rawValue: String)
}

extension WireWord {
    /// The word itself.
    public var description: String { rawValue }
}
