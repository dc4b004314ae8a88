import JunctionSecret
import JunctionSession

/// A credential to sign in with that the service manager passed to the service, and what the unit calls it.
struct PassedCredential: Sendable {
    let name: String
    let secret: SharedSecret
    private let make: @Sendable (SharedSecret) -> Credential

    /// Those that are there, in the folder of the service manager's credentials, in the order in which they are tried.
    static func all(in folder: String) -> [PassedCredential] {
        known.compactMap { name, _ in named(name, in: folder) }
    }

    /// The one of this name, if it is there.
    static func named(_ name: String, in folder: String) -> PassedCredential? {
        guard let (_, make) = known.first(where: { $0.0 == name }) else { return nil }
        return SmallFile.secret(at: "\(folder)/\(name)").map { PassedCredential(name: name, secret: $0, make: make) }
    }

    var value: Credential { make(secret) }

    private static let known: [(String, @Sendable (SharedSecret) -> Credential)] = [
        ("signInToken", { .signInToken($0) }),
        ("linkCode", { .linkCode($0) }),
    ]
}
