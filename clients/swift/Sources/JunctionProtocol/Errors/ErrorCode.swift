/// The error codes of the interface: those of JSON-RPC, and the project's own.
public enum ErrorCode: Int, Hashable, Sendable, CaseIterable {
    /// The line is not JSON.
    case parseError = -32700
    /// The line is JSON, but not a JSON-RPC 2.0 message.
    case invalidRequest = -32600
    /// There is no such method.
    case methodNotFound = -32601
    /// A parameter is missing, unknown or out of range.
    case invalidParams = -32602
    /// The daemon failed. The request was valid.
    case internalError = -32603
    /// Another user is signed in; `userId` names that user.
    case alreadySignedIn = 1001
    /// The token, code, key or signature is malformed or was refused. Nothing changed.
    case invalidCredential = 1002
    /// No user is signed in.
    case notSignedIn = 1003
    /// The session is kept, but needs a new credential.
    case reauthenticationRequired = 1004
    /// The user was deleted, disabled or banned; `termination` says why.
    case sessionTerminated = 1005
    /// The provider gave no usable answer. The session is unchanged.
    case providerUnavailable = 1006
    /// The caller lacks a capability, or the path does not belong to the user.
    case permissionDenied = 1007
    /// An API key's session cannot become the session of another user, environment or region.
    case incompatibleCredential = 1008
    /// The sealed state cannot be read. Nothing was erased.
    case storageUnavailable = 1009
    /// The token has expired, no other is available now, and no attempt is due.
    case tokenExpired = 1010
    /// A limit of this caller is reached, or the token is valid, but not as long as requested.
    case busy = 1011
    /// The provider or the scheme does not support this.
    case unsupported = 1012
    /// The configuration is invalid, so that the daemon serves no session, or it does not fit the provider.
    case misconfigured = 1013

    /// The word in `data.kind`; `nil` for the codes of JSON-RPC.
    public var kind: String? { rawValue > 0 ? word : nil }

    /// The word for the code. For the codes of JSON-RPC, the word is not used on the wire.
    package var word: String {
        switch self {
        case .parseError: "parseError"
        case .invalidRequest: "invalidRequest"
        case .methodNotFound: "methodNotFound"
        case .invalidParams: "invalidParams"
        case .internalError: "internalError"
        case .alreadySignedIn: "alreadySignedIn"
        case .invalidCredential: "invalidCredential"
        case .notSignedIn: "notSignedIn"
        case .reauthenticationRequired: "reauthenticationRequired"
        case .sessionTerminated: "sessionTerminated"
        case .providerUnavailable: "providerUnavailable"
        case .permissionDenied: "permissionDenied"
        case .incompatibleCredential: "incompatibleCredential"
        case .storageUnavailable: "storageUnavailable"
        case .tokenExpired: "tokenExpired"
        case .busy: "busy"
        case .unsupported: "unsupported"
        case .misconfigured: "misconfigured"
        }
    }

    /// Makes the code with this `data.kind`.
    public init?(kind: String) {
        guard let code = Self.allCases.first(where: { $0.kind == kind }) else { return nil }
        self = code
    }

    /// The meaning of the code, in a sentence for people.
    public var summary: String {
        switch self {
        case .parseError: "The line is not JSON, or nested too deeply"
        case .invalidRequest: "The line is no JSON-RPC 2.0 message, or over 1 MiB"
        case .methodNotFound: "There is no such method"
        case .invalidParams: "A parameter is missing, unknown, of the wrong type or out of range"
        case .internalError: "The daemon failed; nothing about the request was wrong"
        case .alreadySignedIn: "Another user is signed in"
        case .invalidCredential: "The credential is malformed or was refused; nothing changed"
        case .notSignedIn: "Nobody is signed in"
        case .reauthenticationRequired: "The session is kept, but needs a new credential"
        case .sessionTerminated: "The user was deleted, disabled or banned"
        case .providerUnavailable: "The provider gave no usable answer; nothing is lost"
        case .permissionDenied: "The caller is not allowed to do this, or the path is not the user's own"
        case .incompatibleCredential: "The API key's session is of another user, environment or region"
        case .storageUnavailable: "The sealed state cannot be read; nothing was erased"
        case .tokenExpired: "The token has expired, and there is no other one now"
        case .busy: "A limit of this caller is reached, or the token lives, but not as long as the caller wants it to"
        case .unsupported: "The provider or the scheme does not have this"
        case .misconfigured:
            "The configuration is wrong: the daemon refuses it and serves nobody, or it does not fit the provider"
        }
    }
}
