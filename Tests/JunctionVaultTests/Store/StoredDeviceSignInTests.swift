import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionVault

/// A device sign-in that waits for approval, stored with every kind of content.
@Suite struct StoredDeviceSignInTests {
    private static let deviceSignIn = StoredDeviceSignIn(
        expiresAt: WallTime(milliseconds: 1_700_000_600_000),
        interval: .milliseconds(5_500),
        externalUserId: ExternalUserId("ext-Äther"),
        wanted: Identity(userId: "Anna", issuer: "https://id.example.com"),
        caller: LocalCaller(user: 1_000, groups: [4, 1_000], membership: .inUnit("kiosk.service"))
    )

    private static func record(
        _ content: SessionRecord.Content,
        generation: UInt64 = 7,
        edition: UInt32 = 3
    ) -> SessionRecord {
        var record = SessionRecord.test(generation, edition: edition, content)
        record.deviceSignIn = deviceSignIn
        return record
    }

    private static func secrets(complete: Bool = true) -> SessionSecrets {
        var secrets = SessionSecrets.test(7)
        secrets.codes = DeviceCodes(
            deviceCode: SharedSecret(text: "device-code"),
            userCode: SharedSecret(text: "WDJB-MJHT"),
            verificationUri: "https://id.example.com/device",
            verificationUriComplete: complete ? SharedSecret(text: "https://id.example.com/device?c=WDJB-MJHT") : nil
        )
        return secrets
    }

    private static func bytes(
        _ record: SessionRecord,
        _ secrets: SessionSecrets = secrets(),
        by installation: String = thisInstallation
    ) throws -> [UInt8] {
        try SealedRecord.bytes(of: record, secrets, installation: installation, key: .test())
    }

    private let reader = RecordReader(key: .test(), installation: InstallationId(thisInstallation, .stored))

    @Test(arguments: [nil, LocalCaller(user: 0), LocalCaller(user: .max, groups: [0], membership: .inNone)])
    func `an approval is stored with an unknown caller or an unknown unit`(caller: LocalCaller?) throws {
        var record = Self.record(.signedOut)
        record.deviceSignIn?.caller = caller
        let opened = try #require(reader.finding(in: try Self.bytes(record)).opened)
        #expect(opened.record.deviceSignIn == record.deviceSignIn)
    }

    @Test func `an approval is stored without an expected user`() throws {
        var record = Self.record(.signedOut)
        record.deviceSignIn?.wanted = nil
        let opened = try #require(reader.finding(in: try Self.bytes(record)).opened)
        #expect(opened.record.deviceSignIn == record.deviceSignIn)
    }

    @Test(arguments: RecordFormatTests.contents, [true, false])
    func `an approval is restored unchanged with every kind of content`(content: SessionRecord.Content, complete: Bool)
        throws
    {
        let record = Self.record(content)

        let opened = try #require(
            reader.finding(in: try Self.bytes(record, Self.secrets(complete: complete))).opened
        )

        #expect(opened.record == record)
        let codes = try #require(opened.secrets.codes)
        #expect(codes.deviceCode.matches(SharedSecret(text: "device-code")))
        #expect(codes.userCode.matches(SharedSecret(text: "WDJB-MJHT")))
        #expect(codes.verificationUri == "https://id.example.com/device")
        #expect((codes.verificationUriComplete != nil) == complete)
    }

    @Test func `the file does not show the codes`() throws {
        let text = String(decoding: try Self.bytes(Self.record(.signedOut)), as: UTF8.self)

        #expect(!text.contains("WDJB") && !text.contains("device"))
    }

    @Test func `without the key a tombstone is valid and its approval is lost`() throws {
        let reader = RecordReader(key: nil, installation: InstallationId(thisInstallation, .stored))

        let opened = try #require(reader.finding(in: try Self.bytes(Self.record(.signedOut))).opened)

        #expect(opened.record.content == .signedOut && opened.record.deviceSignIn == nil && opened.secrets.codes == nil)
    }

    @Test func `an approval of another installation is not restored`() throws {
        let bytes = try Self.bytes(Self.record(.signedOut), by: otherInstallation)

        let opened = try #require(reader.finding(in: bytes).opened)

        #expect(opened.record.content == .signedOut && opened.record.deviceSignIn == nil && opened.secrets.codes == nil)
    }

    @Test func `a pending approval keeps the quarantine until a sign-in or sign-out`() throws {
        let kept = StateFile("generation-5.0-old", in: .quarantine)
        let disk = SimulatedDisk(live: nil, [kept: [1]])
        var (store, _) = disk.store()

        try store.write(Self.record(.signedOut, generation: 0, edition: 1), Self.secrets())
        #expect(disk.content[kept] != nil)
        #expect(disk.store().found.record?.deviceSignIn == Self.deviceSignIn)

        // The sign-in ended without an approval.
        try store.write(.test(0, edition: 2, .signedOut), SessionSecrets())
        #expect(disk.content[kept] != nil)

        try store.write(.test(1, .signedOut), SessionSecrets())
        #expect(disk.content[kept] == nil)
    }

    @Test func `a delayed sign-out clears the quarantine during a pending approval`() throws {
        let kept = StateFile("generation-5.0-old", in: .quarantine)
        let disk = SimulatedDisk(live: sealed(.test(7)), [kept: [1]])
        var (store, _) = disk.store()

        try store.write(Self.record(.signedOut, generation: 8, edition: 1), Self.secrets(), unopened: .erased)

        #expect(disk.content[kept] == nil)
    }

    @Test func `issuer, subject token type and endpoint origins are restored unchanged`() throws {
        let identity = Identity(userId: "Sub-1", issuer: "https://id.example.com/")
        let content = SessionRecord.Content.session(
            StoredSession(identity: identity, scheme: .tokenExchange, token: nil)
        )
        var secrets = SessionSecrets.test(7)
        secrets.subjectTokenType = "urn:ietf:params:oauth:token-type:jwt"
        secrets.endpointOrigins = EndpointOrigins(token: "https://id.example.com", userinfo: "https://api.example.com")
        secrets.codes?.endpointOrigins = EndpointOrigins(token: "https://id.example.com:8443")

        let opened = try #require(reader.finding(in: try Self.bytes(.test(7, edition: 3, content), secrets)).opened)

        #expect(opened.record.content == content)
        #expect(opened.secrets.subjectTokenType == "urn:ietf:params:oauth:token-type:jwt")
        #expect(opened.secrets.endpointOrigins == secrets.endpointOrigins)
        #expect(opened.secrets.codes?.endpointOrigins == secrets.codes?.endpointOrigins)
    }
}
