/// Who is signed in. A state takes effect when its write has ended, also if the write failed.
///
/// A record is made from one installation state and nothing else. Its content and its sealed secrets therefore come
/// from one value. It is indirect because the machine, which is copied at every event, holds two.
indirect enum InstallationState: Hashable, Sendable {
    case signedOut
    /// A team API key without a user.
    case configured(environment: String, region: String, key: SecretRef?)
    case signedIn(Session)
    case terminated(Termination, Identity?)
    /// A record exists that the daemon cannot read.
    case unreadable(Restoration.Unreadable)

    /// The session of the signed-in user. Setting it changes a detail of this session. It has no effect if no user is
    /// signed in.
    var session: Session? {
        get { if case .signedIn(let session) = self { session } else { nil } }
        set { if case .signedIn = self, let newValue { self = .signedIn(newValue) } }
    }

    /// The secrets that are sealed in its record.
    var secrets: SecretRef? {
        switch self {
        case .signedIn(let session): session.secrets
        case .configured(_, _, let key): key
        case .signedOut, .terminated, .unreadable: nil
        }
    }

    /// The state that a withdrawal writes: `signedOut` if the record could not be read, otherwise this state.
    var stateAfterWithdrawal: InstallationState { isUnreadable ? .signedOut : self }

    /// Whether nothing may be written, because the present record cannot be read.
    var isUnreadable: Bool {
        if case .unreadable = self { true } else { false }
    }

    /// Returns the content of a record that is written at this moment. `nil` if the present record cannot be read.
    func content(at writing: Moment) -> SessionRecord.Content? {
        switch self {
        case .signedOut: .signedOut
        case .configured(let environment, let region, _): .configured(environment: environment, region: region)
        case .signedIn(let session): .session(session.stored(at: writing))
        case .terminated(let termination, let identity): .terminated(termination, identity)
        case .unreadable: nil
        }
    }
}

/// A session that is no longer in force. It can only be revoked, or dropped with a reason.
struct DepartedSession: ~Copyable {
    private let session: Session

    /// The reason why the daemon does not revoke the session at the provider.
    enum Reason {
        /// The session continues with new tokens.
        case renewed
        /// The same user has signed in again. A provider may have one session for a user and a device, so revoking the
        /// old one could end the new one.
        case sameUserSignedIn
        case endedByProvider
        /// The sign-out has already passed the session to the revocations.
        case signedOut
    }

    fileprivate init(_ session: Session) {
        self.session = session
    }

    var identity: Identity { session.identity }

    consuming func revoked(_ revoke: (Session) -> Void) { revoke(session) }

    consuming func dropped(because reason: Reason) {}
}

extension InstallationState {
    /// Puts `next` in force. Returns the session that was in force before, if there was one.
    mutating func replace(with next: InstallationState) -> DepartedSession? {
        defer { self = next }
        return session.map { DepartedSession($0) }
    }
}
