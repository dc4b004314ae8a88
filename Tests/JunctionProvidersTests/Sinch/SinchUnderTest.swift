import JunctionProviders
import JunctionSecret
import JunctionSession
import JunctionTesting
import RegistrationToken

@testable import JunctionProviders

extension ProviderUnderTest {
    /// No verdict ends a registration, because a new one is always possible.
    static let sinch = ProviderUnderTest(
        name: "sinch",
        provider: { url, http, clock in
            SinchProvider(
                cloud: try SinchCloud(registrationUrl: url),
                application: Sinch.application,
                deviceId: "device-1",
                http: http,
                clock: clock,
                memory: InMemoryProviderMemory()
            )
        },
        credential: .registration(userId: "anna", token: Sinch.token()),
        identity: Identity(userId: "anna"),
        secrets: SessionSecrets(
            accessToken: SharedSecret(text: "access-secret"),
            refreshToken: Sinch.registration("i-1").sealed
        ),
        granted: Sinch.granted("i-2"),
        rotated: Sinch.granted("i-2"),
        notRotated: Sinch.granted("i-1"),
        refreshToken: Sinch.registration("i-2").sealed.text,
        answer: .authToken(Sinch.token()),
        invalidAnswers: [.authToken(SharedSecret(text: "nonsense")), .authToken(Sinch.token(for: "bert")), .renew],
        terminated: nil,
        terminationCode: "",
        alreadyRevoked: .json(401, #"{"errorCode":1104,"message":"x"}"#),
        refused: .json(401, #"{"errorCode":40101,"message":"x"}"#)
    )
}

/// Tokens of an application's server, and answers of the registration endpoint.
enum Sinch {
    static let key = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"
    static let secretText = SharedSecret(text: "ax8hTTQJF0OPXL32r1LHMA==\n")

    /// As on most devices: the key without the secret.
    static let application = try! SinchApplication(key: key)
    static let selfSigning = try! SinchApplication(key: key, secret: secretText)

    /// Noon, in seconds since 1970.
    static let now = ManualClock.noon.milliseconds / 1_000

    static func jwt(
        for user: String = "anna",
        of application: String = key,
        at time: Int64 = now,
        instanceTimeToLive: Int64? = nil
    ) -> String {
        let secret = try! ApplicationSecret(base64: "ax8hTTQJF0OPXL32r1LHMA==".utf8)
        return try! RegistrationToken(
            applicationKey: application,
            userId: user,
            issuedAt: time,
            instanceTimeToLive: instanceTimeToLive,
            nonce: "n"
        ).signed(with: secret)
    }

    static func token(
        for user: String = "anna",
        of application: String = key,
        at time: Int64 = now,
        instanceTimeToLive: Int64? = nil
    ) -> SharedSecret {
        SharedSecret(text: jwt(for: user, of: application, at: time, instanceTimeToLive: instanceTimeToLive))
    }

    /// A registration of one hour.
    static func granted(_ instance: String) -> ScriptedServer.Step {
        .json(200, #"{"instanceId":"\#(instance)","credential":"access-1","expiresAt":\#(now + 3_600)}"#)
    }

    static func registration(_ instance: String) -> Registration {
        Registration(
            instanceId: instance,
            scheme: .registration,
            limit: ManualClock.noon + .seconds(3_600)
        )
    }

    static func secrets(_ registration: Registration) -> SessionSecrets {
        SessionSecrets(accessToken: SharedSecret(text: "access-0"), refreshToken: registration.sealed)
    }

    /// A text in the form of a legacy signature.
    static let signature = SharedSecret(text: "w7JPN3E6OUcIAGt5JFsNOhuF1MM=")
}

extension Stage {
    func sinch(
        _ application: SinchApplication = Sinch.application,
        remembering memory: any ProviderMemory = InMemoryProviderMemory()
    ) throws -> SinchProvider {
        SinchProvider(
            cloud: try SinchCloud(registrationUrl: "\(server.url)/v1/instance"),
            application: application,
            deviceId: "device-1",
            http: http,
            clock: clock,
            memory: memory
        )
    }
}
