import JunctionSession
import JunctionText

/// The path of a request in the one form in which it can be judged: segments of plain characters.
///
/// What a proxy or a server might read differently than we do is not normalised away but refused: an empty segment,
/// `.` and `..`, a slash, backslash or `%` in disguise, anything after `?` or `#`. A path that cannot be read with
/// certainty is never the user's own, so the refusal is `permissionDenied`.
struct PlainPath: Equatable {
    private(set) var segments: [String]

    static let longest = 2_048

    /// - Parameter id: a user id that may stand as a segment with whatever characters it has, but those that could be
    ///   read as more than one segment, or as something else than a segment.
    init(_ text: String, allowing id: String? = nil) throws(Refusal) {
        guard text.utf8.count <= Self.longest else { throw Self.denied("is longer than \(Self.longest) bytes") }
        guard text.utf8.first == UInt8(ascii: "/") else { throw Self.denied("does not begin with a slash") }
        segments = []
        for raw in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            segments.append(try Self.segment(raw, allowing: id))
        }
    }

    /// What a user id may not hold where it stands in a path.
    private static let treacherous = Set("/\\%?#;".utf8)

    private static func segment(
        _ raw: Substring.UTF8View.SubSequence,
        allowing id: String?
    ) throws(Refusal) -> String {
        var plain: [UInt8] = []
        var rest = raw
        while let byte = rest.popFirst() {
            plain.append(byte == UInt8(ascii: "%") ? try escaped(&rest) : byte)
        }
        let isOwn = id.map { $0.utf8.elementsEqual(plain) && $0.utf8.allSatisfy { !treacherous.contains($0) } } ?? false
        guard isOwn || plain.allSatisfy(PercentEncoding.isUnreserved) else {
            throw denied("has a character that no path of this API needs")
        }
        let segment = String(decoding: plain, as: UTF8.self)
        guard !segment.isEmpty, segment != ".", segment != ".." else {
            throw denied("has an empty segment, or one that points elsewhere")
        }
        return segment
    }

    private static func escaped(_ rest: inout Substring.UTF8View.SubSequence) throws(Refusal) -> UInt8 {
        guard let high = rest.popFirst().flatMap(Hexadecimal.value(of:)),
            let low = rest.popFirst().flatMap(Hexadecimal.value(of:))
        else { throw denied("has a broken percent escape") }
        return high << 4 | low
    }

    private static func denied(_ what: String) -> Refusal {
        Refusal(.permissionDenied, "The path \(what): expected one of the signed-in user's own resources")
    }
}
