import JunctionProtocol
import JunctionSession

// The session module and the wire have separate vocabularies, although most words are equal. Renaming a case of the
// session module does not change the wire, and a new case needs a word here. `Scheme` is the exception: its names are
// those of the wire.

extension WireSnapshot.State {
    init(_ state: SessionState) {
        self =
            switch state {
            case .notLoggedIn: .notLoggedIn
            case .establishing: .establishing
            case .established: .established
            case .tokenExpired: .tokenExpired
            case .terminated: .terminated
            }
    }
}

extension WireSnapshot.Flag {
    init(_ flag: JunctionSession.Snapshot.Flag) {
        self =
            switch flag {
            case .configured: .configured
            case .signedIn: .signedIn
            case .useApiKey: .useApiKey
            case .useSignInToken: .useSignInToken
            case .pendingReauthentication: .pendingReauthentication
            }
    }
}

extension WireSnapshot.Renewal.Phase {
    init(_ phase: RenewalPhase) {
        self =
            switch phase {
            case .none: .none
            case .scheduled: .scheduled
            case .inFlight: .inFlight
            case .waitingForHandler: .waitingForHandler
            case .postponed: .postponed
            case .backingOff: .backingOff
            }
    }
}

extension WireSnapshot.Storage.Status {
    init(_ status: StorageStatus) {
        self =
            switch status {
            case .ok: .ok
            case .locked: .locked
            case .damaged: .damaged
            case .unavailable: .unavailable
            }
    }
}

extension RenewalRequest.Reason {
    init(_ reason: RenewalReason) {
        self =
            switch reason {
            case .missing: .missing
            case .expiring: .expiring
            case .expired: .expired
            case .rejected: .rejected
            case .requested: .requested
            }
    }
}

extension IdentifyResult.Outcome {
    init(_ outcome: IdentifyOutcome) {
        self =
            switch outcome {
            case .unchanged: .unchanged
            case .signedIn: .signedIn
            case .switched: .switched
            case .signedOut: .signedOut
            }
    }
}

extension ReconcileResult.Action {
    init(_ action: ReconcileAction) {
        self =
            switch action {
            case .none: .none
            case .signIn: .signIn
            case .signOut: .signOut
            case .switch: .switch
            case .reauthenticate: .reauthenticate
            case .migrate: .migrate
            }
    }
}
