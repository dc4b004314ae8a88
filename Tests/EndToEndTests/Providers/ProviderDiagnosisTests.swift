import Foundation
import JunctionTesting
import Testing

/// Tests of what `junctionctl doctor` reports about each provider: reachability, clocks and credentials.
struct ProviderDiagnosisTests {
    @Test(arguments: TestedProvider.allCases)
    func `a provider that answers is ok, and one that does not is a problem with a remedy`(provider: TestedProvider)
        throws
    {
        let installation = try provider.started()
        try installation.connect().call("session.signIn", provider.credential(installation))

        let good = try installation.doctor()
        #expect(good.status == 0, "\(good.checks)")
        for name in provider.hosts {
            #expect(good.verdict(of: name) == "ok")
            #expect(good.detail(of: name).contains("127.0.0.1"))
        }
        #expect(good.all("provider clock").contains { $0.contains("provider's") })

        try installation.cloud.stop()
        let bad = try installation.doctor()
        #expect(bad.status == 1)
        for name in provider.hosts {
            #expect(bad.verdict(of: name) == "problem")
            #expect(bad.detail(of: name).contains("127.0.0.1"), "\(bad.detail(of: name))")
            #expect(bad.remedy(of: name)?.isEmpty == false)
        }
        // The provider's clock is unknown, so there is no finding about it.
        #expect(!bad.all("provider clock").contains { $0.contains("provider's") })
        let text = try installation.ctl("doctor").output
        #expect(text.contains("problem  \(provider.hosts[0]): "), "\(text)")
    }

    /// An OAuth server needs its discovery document, which `ClockedHost` does not serve. `OAuthProbeTests` test its
    /// clock.
    @Test(arguments: [TestedProvider.junction, .social, .sinch], [(20.0, "ok"), (-120, "note"), (7_200, "problem")])
    func `a clock that differs from the provider's Date header is reported`(
        provider: TestedProvider,
        clock: (ahead: Double, verdict: String)
    ) throws {
        let host = try ClockedHost(ahead: clock.ahead)
        let installation = try provider.started()
        try installation.stopDaemon()
        let (settings, cloud) = (installation.providerSettings, installation.cloud.url)
        installation.providerSettings = { settings($0).replacing(cloud, with: host.url) }
        try installation.startDaemon()

        let doctor = try installation.doctor()

        let check = try #require(
            doctor.checks.last { $0["name"] as? String == "provider clock" && $0.detail.contains("provider's") }
        )
        #expect(check["verdict"] as? String == clock.verdict)
        if clock.verdict != "ok" {
            #expect(check.detail.contains(clock.ahead > 0 ? "behind" : "ahead of"))
            #expect((check["remedy"] as? String)?.contains("timedatectl") == true)
        }
        #expect(doctor.status == (clock.verdict == "problem" ? 1 : 0))
    }

    // MARK: Credentials

    @Test func `Junction needs no credential on the device, before and after a sign-in`() throws {
        let installation = try Installation.started()
        #expect(try installation.doctor().verdict(of: "provider credentials") == "ok")
        try installation.signInNewUser()
        #expect(try installation.doctor().detail(of: "provider credentials").contains("none is needed"))
    }

    @Test func `social.plus's API key is found, or doctor reports where it belongs`() throws {
        let installation = try Installation.social()
        #expect(try installation.doctor().verdict(of: "provider API key") == "ok")
        try installation.stopDaemon()
        installation.providerSettings = { "provider = \"social\"\n[social]\napiUrl = \"\($0)\"" }
        try installation.startDaemon()

        let doctor = try installation.doctor()

        #expect(doctor.status == 1)
        #expect(doctor.verdict(of: "provider API key") == "problem")
        #expect(doctor.remedy(of: "provider API key")?.contains("social.apiKeyFile") == true)
        let login: Object = ["scheme": "userLogin", "userId": "anna"]
        let refusal = try installation.connect().refusal("session.signIn", login)
        #expect(refusal.kind == "misconfigured")
        #expect(refusal.message.contains("social.apiKeyFile"))
    }

    @Test func `a provider call of a diagnosis counts against the call limit`() throws {
        let installation = try Installation.social(configuration: "[limits]\nproviderCallsPerMinute = 3")
        let client = try installation.connect()

        let diagnoses = try (0..<8).map { _ in try client.call("daemon.diagnose") }

        let details = diagnoses.flatMap { $0["checks"] as? [Object] ?? [] }
            .filter { $0["name"] as? String == "provider API" }.compactMap { $0["detail"] as? String }
        #expect(details.count == 8)
        #expect(details.count { $0.contains("was not asked") } == 5)
        let login: Object = ["scheme": "userLogin", "userId": "anna"]
        #expect(try client.refusal("session.signIn", login).kind == "busy")
    }

    @Test func `an API key that every user can read is a problem, but the daemon runs`() throws {
        let installation = try Installation.social()
        #expect(try installation.doctor().verdict(of: "secret file") == nil)
        chmod(installation.folder.path, 0o711)
        chmod(installation.folder.path + "/api-key", 0o644)

        let doctor = try installation.doctor()

        #expect(doctor.status == 1)
        #expect(doctor.verdict(of: "secret file") == "problem")
        #expect(doctor.remedy(of: "secret file")?.contains("LoadCredential=social.apiKey:") == true)
        let check = try installation.checkConfiguration()
        #expect(check.status == 0)
        #expect(check.errors.contains("LoadCredential=social.apiKey:"))
        try installation.restartDaemon()
        #expect(try installation.status()["state"] as? String == "notLoggedIn")
    }

    @Test func `Sinch's application secret on the device is reported as a note`() throws {
        let without = try Installation.sinch().doctor()
        let with = try Installation.sinch(selfSigning: true).doctor()

        #expect(without.verdict(of: "provider application secret") == "ok")
        #expect(with.verdict(of: "provider application secret") == "note")
        #expect(with.remedy(of: "provider application secret")?.contains("sinch.applicationSecretFile") == true)
        #expect(with.status == 0)
    }

    @Test(arguments: TestedProvider.allCases)
    func `doctor shows no secret, whatever it finds`(provider: TestedProvider) throws {
        let installation = provider == .sinch ? try .sinch(selfSigning: true) : try provider.started()
        let credential = try provider.credential(installation)
        try installation.connect().call("session.signIn", credential)
        let secrets = [
            "sandbox-api-key", Installation.sinchSecret, try #require(try installation.token()),
            credential["token"] as? String ?? Installation.sinchSecret,
        ]

        for isReachable in [true, false] {
            if !isReachable { try installation.cloud.stop() }
            for arguments in [["doctor"], ["doctor", "--json"]] {
                let ending = try installation.ctl(arguments)
                #expect(ending.output.contains("provider"))
                #expect(SecretSearch.found(secrets, in: ending.output + ending.errors) == [])
            }
        }
    }
}

extension TestedProvider {
    /// The checks that contact a host.
    fileprivate var hosts: [String] {
        switch self {
        case .junction: ["provider auth", "provider API"]
        case .social: ["provider API"]
        case .sinch: ["provider registration"]
        case .oauth: ["provider metadata"]
        }
    }
}

private struct Findings {
    var status: Int32
    var checks: [Object]

    func verdict(of name: String) -> String? { check(name)?["verdict"] as? String }
    func detail(of name: String) -> String { check(name)?.detail ?? "" }
    func remedy(of name: String) -> String? { check(name)?["remedy"] as? String }
    func all(_ name: String) -> [String] { checks.filter { $0["name"] as? String == name }.map(\.detail) }

    private func check(_ name: String) -> Object? { checks.first { $0["name"] as? String == name } }
}

extension Installation {
    fileprivate func doctor() throws -> Findings {
        let ending = try ctl("doctor", "--json")
        return Findings(status: ending.status, checks: try ending.json()["checks"] as? [Object] ?? [])
    }
}

extension [String: Any] {
    fileprivate var detail: String { self["detail"] as? String ?? "" }
}
