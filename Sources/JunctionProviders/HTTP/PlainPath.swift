import JunctionSession
import JunctionText

/// The path of a request as segments of plain characters, the only form in which the policies judge a path.
///
/// A path that a proxy or a server might interpret differently is refused, not normalised: an empty segment, `.` and
/// `..`, an escaped slash, backslash or `%`, anything after `?` or `#`. An ambiguous path is never the user's own, so
/// the error is `permissionDenied`.
struct PlainPath: Equatable {
    private(set) var segments: [String]

    static let longest = 2_048

    /// The text that a segment may hold besides plain characters.
    enum Allowance {
        case nothing
        /// This user id, with any characters except those that could change the meaning of the path.
        case id(String)
        /// Any characters except those: an unknown API may need them.
        case anything
    }

    init(_ text: String, allowing allowance: Allowance = .nothing) throws(SessionError) {
        guard text.utf8.count <= Self.longest else { throw Self.denied("is longer than \(Self.longest) bytes") }
        guard text.utf8.first == UInt8(ascii: "/") else { throw Self.denied("does not begin with a slash") }
        segments = []
        for raw in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            segments.append(try Self.segment(raw, allowing: allowance))
        }
    }

    /// Characters that could change the meaning of a path. No segment may contain one of them.
    private static let ambiguous = Set("/\\%?#;".utf8)

    private static func segment(
        _ raw: Substring.UTF8View.SubSequence,
        allowing allowance: Allowance
    ) throws(SessionError) -> String {
        guard let plain = PercentEncoding.decode(raw) else { throw denied("has a broken percent escape") }
        guard !plain.contains(where: ambiguous.contains) else {
            throw denied("could be read in two ways, because a segment contains one of / \\ % ? # ;")
        }
        guard plain.allSatisfy(PercentEncoding.isUnreserved) || allowance.allows(plain) else {
            throw denied("has a character that no path of this API needs")
        }
        let segment = String(decoding: plain, as: UTF8.self)
        guard !segment.isEmpty, segment != ".", segment != ".." else {
            throw denied("has an empty segment, or one that points elsewhere")
        }
        return segment
    }

    private static func denied(_ what: String) -> SessionError {
        SessionError(.permissionDenied, "The path \(what): expected one of the signed-in user's own resources")
    }
}

extension PlainPath.Allowance {
    fileprivate func allows(_ segment: [UInt8]) -> Bool {
        switch self {
        case .nothing: false
        case .id(let id): id.utf8.elementsEqual(segment)
        // Invalid UTF-8 would be sent as other bytes than the ones that were checked.
        case .anything:
            segment.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && String(validating: segment, as: UTF8.self) != nil
        }
    }
}
