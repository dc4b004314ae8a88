import JunctionClient
import JunctionProtocol
import JunctionText

/// An unknown method name that a user typed.
struct MistypedMethod {
    private let name: String
    private let error: JunctionError

    /// Returns nil for a method that this program knows. In that case the daemon is older, and the general error says
    /// so.
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

    /// A longer name is not a typing error.
    private static let longest = 64

    /// Returns the most similar names, if they need few corrections.
    static func nearest(to name: String) -> [String] {
        guard name.utf8.count <= longest else { return [] }
        let wanted = name.lowercased()
        let distances = known.map { (name: $0, distance: distance(from: wanted, to: $0)) }
        let least = distances.map(\.distance).min() ?? .max
        guard least <= 1 + wanted.utf8.count / 4 else { return [] }
        return distances.filter { $0.distance == least }.map(\.name)
    }

    /// Returns the number of corrections. The part before the dot may be missing, which counts as one.
    private static func distance(from wanted: String, to name: String) -> Int {
        let short = name.split(separator: ".").last.map(String.init) ?? name
        return min(
            Spelling.corrections(from: wanted, to: name.lowercased()),
            1 + Spelling.corrections(from: wanted, to: short.lowercased())
        )
    }
}
