import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionProviders

struct SinchSessionTests {
    private static let anna = Identity(userId: "anna")

    // MARK: Sign-out

    @Test func `a sign-out removes the registration, with its credential if there is one`() async throws {
        let gone = ScriptedServer.Step.raw("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        try await Stage.play([gone, gone]) { stage in
            let sinch = try stage.sinch()
            try await sinch.revoke(Self.anna, with: Sinch.secrets(Sinch.registration("i/1")))
            try await sinch.revoke(Self.anna, with: SessionSecrets(refreshToken: Sinch.registration("i-2").sealed))
            try await sinch.revoke(Self.anna, with: SessionSecrets())

            let requests = stage.server.requests
            #expect(
                requests.map(\.line) == ["DELETE /v1/instance/i%2F1 HTTP/1.1", "DELETE /v1/instance/i-2 HTTP/1.1"]
            )
            #expect(requests.map { $0.header("authorization") } == ["Bearer access-0", nil])
        }
    }

    // MARK: API

    @Test func `an API call is unsupported`() async throws {
        try await Stage.play([]) { stage in
            let sinch = try stage.sinch()
            let request = ApiRequest(method: "GET", path: "/v1/instance")

            let refusal = #expect(throws: SessionError.self) { try sinch.validate(request, for: Self.anna) }
            #expect(refusal?.kind == .unsupported)
            await #expect(throws: Unavailability.self) {
                try await sinch.send(request, for: Self.anna, with: Sinch.secrets(Sinch.registration("i-1")))
            }
            #expect(stage.server.requests.isEmpty)
        }
    }

    // MARK: Doctor

    @Test func `doctor probes the host, compares the clock and notes a secret on the device`() async throws {
        let step = ScriptedServer.Step.answer(404, [("date", "Sat, 21 Nov 2026 11:50:00 GMT")], "")
        try await Stage.play([step, step]) { stage in
            let good = try await stage.sinch().probe(nil)
            let discouraged = try await stage.sinch(Sinch.selfSigning).probe(Self.anna)

            #expect(good.map(\.name) == ["provider registration", "provider clock", "provider application secret"])
            #expect(good.map(\.verdict) == [.ok, .problem, .ok])
            #expect(discouraged.last?.verdict == .note)
            #expect(discouraged.last?.remedy?.contains("sinch.applicationSecretFile") == true)
            #expect(stage.server.requests.allSatisfy { $0.line.hasPrefix("HEAD /") })
        }
    }

    // MARK: Configuration

    @Test func `the registration URL is below the environment's host, or is the configured one`() throws {
        #expect(try SinchCloud().registration.url == "https://ocra.api.sinch.com/v1/instance")
        #expect(
            try SinchCloud(environmentHost: "ocra-euc1.api.sinch.com").registration.url
                == "https://ocra-euc1.api.sinch.com/v1/instance"
        )
        #expect(
            try SinchCloud(registrationUrl: "http://127.0.0.1:8787/x/").registration.url == "http://127.0.0.1:8787/x"
        )
    }

    @Test(arguments: ["", "ocra.api.sinch.com/elsewhere", "me@ocra.api.sinch.com", "ocra api"])
    func `an invalid environment host is refused`(host: String) {
        let fault = #expect(throws: ProviderConfigurationFault.self) { try SinchCloud(environmentHost: host) }

        #expect(fault?.message.hasPrefix("sinch.environmentHost: ") == true)
    }

    @Test(arguments: ["http://ocra.api.sinch.com/", "ocra.api.sinch.com", "https://x/?a=b"])
    func `an unencrypted or ambiguous registration URL is refused`(url: String) {
        let fault = #expect(throws: ProviderConfigurationFault.self) { try SinchCloud(registrationUrl: url) }

        #expect(fault?.message.hasPrefix("sinch.registrationUrl: ") == true)
    }

    @Test(arguments: ["", "a/b", "a b", String(repeating: "a", count: 65)])
    func `an invalid application key is refused`(key: String) {
        let fault = #expect(throws: ProviderConfigurationFault.self) { try SinchApplication(key: key) }

        #expect(fault?.message.hasPrefix("sinch.applicationKey: ") == true)
    }

    @Test func `an error about an invalid secret names its setting and does not repeat it`() throws {
        let fault = #expect(throws: ProviderConfigurationFault.self) {
            try SinchApplication(key: "k", secret: SharedSecret(text: "not-Base64"))
        }

        #expect(fault?.message.hasPrefix("sinch.applicationSecretFile: ") == true)
        #expect(fault?.message.contains("not-Base64") == false)
    }
}
