import JunctionProtocol

/// The credentials that a unit can load.
enum CredentialName: String, CaseIterable {
    case accessToken = "access-token"
    /// The header field `Authorization: Bearer TOKEN`, as `junctionctl token --header` prints it. curl reads such a line
    /// from a file.
    case authorizationHeader = "authorization-header"
    case userId = "user-id"
    /// The snapshot, as JSON.
    case status

    /// The method that tells callers of the other sockets the same. Its capability is required.
    var method: Method {
        switch self {
        case .accessToken, .authorizationHeader: .tokenGet
        case .userId, .status: .sessionStatus
        }
    }

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
