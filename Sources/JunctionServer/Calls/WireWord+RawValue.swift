import JunctionProtocol

extension WireWord {
    /// Makes the word that the daemon's enum names: the raw values of such an enum are the words of the wire, which
    /// `WireWordTests` compares.
    package init(_ word: some RawRepresentable<String>) {
        self.init(rawValue: word.rawValue)
    }
}
