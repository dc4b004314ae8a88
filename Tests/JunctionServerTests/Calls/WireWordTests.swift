import JunctionProtocol
import JunctionSession
import Testing

@testable import JunctionServer

/// The words on which apps and scripts depend. A case that is renamed in the daemon must not change one.
struct WireWordTests {
    private typealias Snapshot = JunctionProtocol.Snapshot

    @Test func `states have their documented words`() {
        #expect(
            SessionState.allCases.map { Snapshot.State($0).rawValue }
                == ["notLoggedIn", "establishing", "established", "tokenExpired", "terminated"]
        )
    }

    @Test func `an error of the configuration that the provider shows names the unit to restart`() {
        let failure = Unavailability("another issuer", cause: .configuration)

        #expect(
            WireError(SessionError(failure)).remedy
                == "correct the configuration here or at the provider; after a change here: systemctl restart junctiond; "
                + "then try again"
        )
    }

    @Test func `an error of the configuration also says that the credential is spent and its grant is kept`() {
        let failure = Unavailability("another issuer", cause: .configuration)
        let kept = WireError(SessionError(failure, remedy: .signInAgainWithPartialGrant)).remedy
        let spentNothing = WireError(SessionError(failure, remedy: .signInAgain(after: failure))).remedy

        #expect(kept?.contains("systemctl restart junctiond; then try again; the credential has been spent") == true)
        #expect(spentNothing?.hasSuffix("then try again") == true)
    }

    @Test func `flags have their documented words`() {
        #expect(
            JunctionSession.Snapshot.Flag.allCases.map { Snapshot.Flag($0).rawValue }
                == ["configured", "signedIn", "useApiKey", "useSignInToken", "pendingReauthentication"]
        )
    }

    @Test func `schemes have their documented words`() {
        let words = [
            "signInToken", "linkCode", "apiKey", "userLogin", "registration", "registrationSignature", "selfSigned",
            "device", "authorizationCode", "refreshToken", "tokenExchange",
        ]

        #expect(JunctionSession.Scheme.allCases.map(\.rawValue) == words)
        #expect(JunctionProtocol.Credential.Scheme.allCases.map(\.rawValue) == words)
    }

    @Test func `phases of a renewal have their documented words`() {
        #expect(
            RenewalPhase.allCases.map { Snapshot.Renewal.Phase($0).rawValue }
                == ["none", "scheduled", "inFlight", "waitingForHandler", "postponed", "backingOff"]
        )
    }

    @Test func `reasons of a renewal have their documented words`() {
        let reasons: [RenewalReason] = [.missing, .expiring, .expired, .rejected, .requested]

        #expect(
            reasons.map { RenewalRequest.Reason($0).rawValue }
                == ["missing", "expiring", "expired", "rejected", "requested"]
        )
    }

    @Test func `states of the storage have their documented words`() {
        #expect(
            StorageStatus.allCases.map { Snapshot.Storage.Status($0).rawValue }
                == ["ok", "locked", "damaged", "unavailable"]
        )
    }

    @Test func `outcomes of identify and reconcile have their documented words`() {
        let outcomes: [IdentifyOutcome] = [.unchanged, .signedIn, .switched, .signedOut]

        #expect(
            outcomes.map { IdentifyResult.Outcome($0).rawValue } == ["unchanged", "signedIn", "switched", "signedOut"]
        )
        #expect(
            ReconcileAction.allCases.map { ReconcileResult.Action($0).rawValue }
                == ["none", "signIn", "signOut", "switch", "reauthenticate", "migrate"]
        )
    }

    @Test func `what decides about a caller has the documented words`() {
        #expect(
            AccessDecision.Basis.allCases.map { CallerDescription.Basis($0).rawValue }
                == ["root", "daemonUser", "socketGroup", "entry", "unitUnknown", "unmapped", "none"]
        )
    }

    @Test func `verdicts of a diagnosis have their documented words`() {
        let verdicts: [ProbeFinding.Verdict] = [.ok, .note, .problem]

        #expect(verdicts.map { Diagnosis.Verdict($0).rawValue } == ["ok", "note", "problem"])
    }

    @Test func `kinds of an error have their documented words`() {
        #expect(
            SessionError.Kind.allCases.map { ErrorCode($0).rawValue }
                == [1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, -32602]
        )
    }
}
