import JunctionProtocol
import JunctionSession
import Testing

@testable import JunctionServer

/// The words that apps and scripts rely on, whatever the session's house calls the same things.
struct WireWordTests {
    private typealias Snapshot = JunctionProtocol.Snapshot

    @Test func `states`() {
        #expect(
            SessionState.allCases.map { Snapshot.State($0).rawValue }
                == ["notLoggedIn", "establishing", "established", "tokenExpired", "terminated"]
        )
    }

    @Test func `flags`() {
        #expect(
            JunctionSession.Snapshot.Flag.allCases.map { Snapshot.Flag($0).rawValue }
                == ["configured", "signedIn", "useApiKey", "useSignInToken", "pendingReauthentication"]
        )
    }

    @Test func `schemes`() {
        #expect(
            JunctionSession.Scheme.allCases.map { "\(JunctionProtocol.Credential.Scheme($0).name)" }
                == [
                    "signInToken", "linkCode", "apiKey", "userLogin", "registration", "registrationSignature",
                    "selfSigned", "device", "authorizationCode", "refreshToken", "tokenExchange",
                ]
        )
    }

    @Test func `phases of a renewal`() {
        #expect(
            RenewalPhase.allCases.map { Snapshot.Renewal.Phase($0).rawValue }
                == ["none", "scheduled", "inFlight", "waitingForHandler", "postponed", "backingOff"]
        )
    }

    @Test func `reasons of a renewal`() {
        let reasons: [RenewalReason] = [.missing, .expiring, .expired, .rejected, .requested]

        #expect(
            reasons.map { RenewalRequest.Reason($0).rawValue }
                == ["missing", "expiring", "expired", "rejected", "requested"]
        )
    }

    @Test func `states of the storage`() {
        #expect(
            StorageStatus.allCases.map { Snapshot.Storage.Status($0).rawValue }
                == ["ok", "locked", "damaged", "unavailable"]
        )
    }

    @Test func `outcomes of identify and reconcile`() {
        let outcomes: [IdentifyOutcome] = [.unchanged, .signedIn, .switched, .signedOut]

        #expect(
            outcomes.map { IdentifyResult.Outcome($0).rawValue } == ["unchanged", "signedIn", "switched", "signedOut"]
        )
        #expect(
            ReconcileAction.allCases.map { ReconcileResult.Action($0).rawValue }
                == ["none", "signIn", "signOut", "switch", "reauthenticate", "migrate"]
        )
    }

    @Test func `kinds of a refusal`() {
        #expect(
            SessionError.Kind.allCases.map { ErrorCode($0).rawValue }
                == [1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, -32602]
        )
    }
}
