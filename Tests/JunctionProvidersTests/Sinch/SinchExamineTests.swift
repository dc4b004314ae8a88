import JunctionSecret
import JunctionSession
import JunctionTesting
import NIOPosix
import Testing

@testable import JunctionProviders

struct SinchExamineTests {
    @Test func `a registration with a token names its user`() throws {
        let facts = try examine(.registration(userId: "Anna", token: Sinch.token(for: "Anna")))

        #expect(facts == CredentialFacts(scheme: .registration, subject: .user(Identity(userId: "Anna"))))
    }

    @Test func `a registration without a token needs a session handler`() throws {
        let facts = try examine(.registration(userId: "anna", token: nil))

        #expect(facts.needsHandler)
        #expect(facts.subject == .user(Identity(userId: "anna")))
    }

    @Test(arguments: [
        ("nonsense", "form"), (Sinch.jwt(for: "bert"), "user"), (Sinch.jwt(for: "Anna"), "user"),
        (Sinch.jwt(of: "another"), "application"),
    ])
    func `an error about an invalid token names the rule and does not quote the token`(jwt: String, rule: String) throws
    {
        let refused = #expect(throws: CredentialRefused.self) {
            try examine(.registration(userId: "anna", token: SharedSecret(text: jwt)))
        }

        let reason = try #require(refused?.reasonIfMalformed)
        #expect(reason.hasPrefix("The registration token breaks the rule \(rule):"))
        #expect(!reason.contains(jwt))
    }

    /// `examine` does not check times, so an expired token is not malformed. The exchange refuses it.
    @Test func `an expired token is not malformed`() throws {
        let old = Sinch.token(at: 1_514_862_245)

        #expect(try !examine(.registration(userId: "anna", token: old)).needsHandler)
    }

    @Test(arguments: ["", "an na", "änna", String(repeating: "a", count: 41)])
    func `a user id that Sinch does not accept is refused in every scheme`(user: String) {
        let credentials: [Credential] = [
            .registration(userId: user, token: nil),
            .registrationSignature(userId: user, signature: Sinch.signature, sequence: 1),
            .selfSigned(userId: user),
        ]
        for credential in credentials {
            #expect(
                throws: CredentialRefused.misdescribed(
                    "The user id must have 1 to 40 printable ASCII characters, without spaces"
                )
            ) { try examine(credential, by: Sinch.selfSigning) }
        }
    }

    @Test func `self-signing without an application secret is refused, and the message names the setting`() throws {
        #expect(
            throws: CredentialRefused.incomplete(
                "Self-signing needs the application secret: set sinch.applicationSecretFile, or hand in a registration "
                    + "token"
            )
        ) { try examine(.selfSigned(userId: "anna")) }
        #expect(try examine(.selfSigned(userId: "anna"), by: Sinch.selfSigning).scheme == .selfSigned)
    }

    @Test(arguments: [
        "", "w7JPN3E6OUcIAGt5JFsNOhuF1MM", "w7JPN3E6OUcIAGt5JFsNOhuF1MM==", "w7JPN3E6OUcIAGt5JFsNOhuF1M==",
        "w7JPN3E6OUcIAGt5JFsNOhuF1M-=", " 7JPN3E6OUcIAGt5JFsNOhuF1MM=",
    ])
    func `a signature that is not 28 characters of Base64 is malformed`(text: String) throws {
        #expect(throws: CredentialRefused.malformed("The registration signature is not Base64 of a SHA-1 digest")) {
            try examine(
                .registrationSignature(userId: "anna", signature: SharedSecret(text: text), sequence: 1)
            )
        }
        let good = Credential.registrationSignature(userId: "anna", signature: Sinch.signature, sequence: .max)
        #expect(try examine(good).scheme == .registrationSignature)
    }

    private func examine(
        _ credential: Credential,
        by application: SinchApplication = Sinch.application
    ) throws -> CredentialFacts {
        let sinch = SinchProvider(
            cloud: try SinchCloud(),
            application: application,
            deviceId: "device-1",
            http: .unused,
            clock: ManualClock(ManualClock.start),
            memory: InMemoryProviderMemory()
        )
        return try sinch.examine(credential, configured: nil)
    }
}

extension OutgoingHTTP {
    /// A client that sends no request, so it needs no shutdown.
    fileprivate static let unused = OutgoingHTTP(
        eventLoop: ScriptedServer.group.next(),
        helper: .built,
        userAgent: "junctiond/0.0-test"
    )
}
