import JunctionSecret
import JunctionSession

/// A credential to sign in with that the service manager passed to the service, and what the unit calls it.
struct PassedCredential: Sendable {
    let name: String
    let secret: SharedSecret
    private let make: @Sendable (SharedSecret) -> Credential

    /// The first one that is there, in the folder of the service manager's credentials.
    static func found(in folder: String) -> PassedCredential? {
        known.lazy.compactMap { name, make in
            SmallFile.secret(at: "\(folder)/\(name)").map { PassedCredential(name: name, secret: $0, make: make) }
        }.first
    }

    var value: Credential { make(secret) }

    private static let known: [(String, @Sendable (SharedSecret) -> Credential)] = [
        ("signInToken", { .signInToken($0) }),
        ("linkCode", { .linkCode($0) }),
    ]
}
