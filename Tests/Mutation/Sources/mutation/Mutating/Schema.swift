/// A source file with every mutant in it, inactive. Text is inserted between the bytes of the original, which do not
/// change.
struct Schema {
    private struct Insertion {
        var text: String
        var mutants: [Int]
    }

    private struct Seam {
        /// The insertions that end here. The one that began last ends first.
        var closing: [Insertion] = []
        /// The insertions that begin here, the outermost first.
        var opening: [Insertion] = []
        /// The offset at which the original continues if text here is replaced.
        var skippingTo: Int?
    }

    private var seams: [Int: Seam] = [:]

    /// Inserts text around a range of the original. Outer ranges must be wrapped before inner ones.
    mutating func wrap(_ extent: Range<Int>, in before: String, and after: String = "", for mutants: [Int]) {
        seams[extent.lowerBound, default: Seam()].opening.append(Insertion(text: before, mutants: mutants))
        guard !after.isEmpty else { return }
        seams[extent.upperBound, default: Seam()].closing.append(Insertion(text: after, mutants: mutants))
    }

    /// Replaces a range of the original, which must be a token without other insertions.
    mutating func replace(_ extent: Range<Int>, with text: String, for mutants: [Int]) {
        seams[extent.lowerBound, default: Seam()].opening.append(Insertion(text: text, mutants: mutants))
        seams[extent.lowerBound]?.skippingTo = extent.upperBound
    }

    func woven(into original: [UInt8]) -> WovenFile {
        var woven = WovenFile()
        var from = 0
        for offset in seams.keys.sorted() {
            guard let seam = seams[offset] else { continue }
            woven.take(original[from..<offset], at: from)
            from = seam.skippingTo ?? offset
            for insertion in seam.closing.reversed() { woven.put(insertion.text, for: insertion.mutants) }
            for insertion in seam.opening { woven.put(insertion.text, for: insertion.mutants) }
        }
        woven.take(original[from...], at: from)
        return woven
    }
}

/// The compiled text, with the origin of each byte. The compiler's errors refer to this text.
struct WovenFile {
    enum Origin {
        case original(offset: Int)
        case mutants([Int])
    }

    private(set) var bytes: [UInt8] = []
    private var pieces: [(start: Int, origin: Origin)] = []

    fileprivate mutating func take(_ original: ArraySlice<UInt8>, at offset: Int) {
        guard !original.isEmpty else { return }
        pieces.append((bytes.count, .original(offset: offset)))
        bytes += original
    }

    fileprivate mutating func put(_ text: String, for mutants: [Int]) {
        pieces.append((bytes.count, .mutants(mutants)))
        bytes += text.utf8
    }

    /// Returns the origin of the text at this line and column, both counted from one.
    func origin(line: Int, column: Int) -> Origin? {
        var start = 0
        for _ in 1..<max(line, 1) {
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            start = end + 1
        }
        let position = start + column - 1
        guard let piece = pieces.last(where: { $0.start <= position }) else { return nil }
        if case .original(let offset) = piece.origin { return .original(offset: offset + position - piece.start) }
        return piece.origin
    }
}
