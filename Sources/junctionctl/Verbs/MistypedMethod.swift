import JunctionClient
import JunctionProtocol
import JunctionText

/// A name that somebody gave for a method, and that is none's.
struct MistypedMethod {
    private let name: String
    private let error: JunctionError

    /// Nothing where it is one that this program knows: then the daemon is older, as is said of every other verb.
    init?(_ name: String, _ error: JunctionError) {
        guard error.kind == .methodNotFound, !Self.known.contains(name) else { return nil }
        (self.name, self.error) = (name, error)
    }

    var failure: CommandFailure {
        var failure = CommandFailure(error)
        failure.what = "there is no such method"
        let all = "'junctionctl rpc rpc.discover' lists all"
        let near = Self.nearest(to: name).map { "'\($0)'" }
        failure.remedy = near.isEmpty ? all : "is it \(near.joined(separator: " or "))? \(all)"
        return failure
    }

    private static let known = JunctionProtocol.Method.allCases.map { "\($0.name)" }

    /// Nothing longer is a slip of the hand.
    private static let longest = 64

    /// The names that were most probably meant: those that take the fewest corrections, if these are few.
    static func nearest(to name: String) -> [String] {
        guard name.utf8.count <= longest else { return [] }
        let wanted = name.lowercased()
        let distances = known.map { (name: $0, distance: distance(from: wanted, to: $0)) }
        let least = distances.map(\.distance).min() ?? .max
        guard least <= 1 + wanted.utf8.count / 4 else { return [] }
        return distances.filter { $0.distance == least }.map(\.name)
    }

    /// How many corrections it takes; what stands before the dot is easily left out.
    private static func distance(from wanted: String, to name: String) -> Int {
        let short = name.split(separator: ".").last.map(String.init) ?? name
        return min(
            Spelling.corrections(from: wanted, to: name.lowercased()),
            1 + Spelling.corrections(from: wanted, to: short.lowercased())
        )
    }
}
