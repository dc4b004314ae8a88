/// A word out of a list that a newer daemon may have extended: unknown words are kept, not refused.
public protocol WireWord: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == String {
    /// Takes any word.
    init(rawValue: String)
}

extension WireWord {
    /// The word itself.
    public var description: String { rawValue }
}
