import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionVault

/// A rotation would be lost if its record were too long to be written, so the longest possible record has to fit.
struct LongestRecordTests {
    /// Text that has the most bytes for each character in JSON.
    private func text(_ count: Int) -> String { String(repeating: "\u{1}", count: count) }

    @Test func `the longest identity, tokens and pending sign-ins fit into one record`() throws {
        var session = StoredSession.test(String(repeating: "u", count: 256))
        session.externalUserId = ExternalUserId(text(ExternalUserId.longest))
        session.postponement = StoredPostponement(until: WallTime(milliseconds: 1), reason: text(10_000))
        // The answer of a token endpoint has at most 64 KiB. The refresh token may come from an earlier answer.
        var secrets = SessionSecrets(
            accessToken: .init(text: String(repeating: "a", count: 1 << 14)),
            refreshToken: .init(text: String(repeating: "r", count: 1 << 16)),
            apiKey: .init(text: String(repeating: "k", count: 4_096))
        )
        let origin = "https://\(String(repeating: "h", count: 253)):65535"
        secrets.endpointOrigins = EndpointOrigins(
            token: origin,
            deviceAuthorization: origin,
            revocation: origin,
            userinfo: origin
        )
        // Two sign-ins and an approval that are not complete. Each has an answer of that size, which is escaped twice,
        // and a subject token of that size.
        let stored = [StoredPartialGrant.Purpose.signIn, .deviceSignIn, .renewal].map {
            StoredPartialGrant(expiresAt: WallTime(milliseconds: 1), purpose: $0)
        }
        let grant = PartialGrant(
            credential: .init(text: String(repeating: "s", count: 1 << 16)),
            content: .init(text: String(repeating: "\\", count: 1 << 16))
        )
        secrets.partialGrants = Array(repeating: grant, count: 3)
        var record = SessionRecord.test(1, .session(session))
        record.partialGrants = stored
        record.deviceSignIn = StoredDeviceSignIn(
            expiresAt: WallTime(milliseconds: 1),
            interval: .seconds(5),
            externalUserId: session.externalUserId,
            wanted: session.identity,
            caller: LocalCaller(
                user: .max,
                groups: Set((0..<UInt32(LocalCaller.mostGroups)).map { .max - $0 }),
                membership: .inUnit(String(repeating: "u", count: 255))
            )
        )
        let uri = origin + "/" + String(repeating: "v", count: 2_048)
        secrets.codes = DeviceCodes(
            deviceCode: .init(text: String(repeating: "\\", count: 1 << 14)),
            userCode: .init(text: String(repeating: "c", count: 256)),
            verificationUri: uri,
            verificationUriComplete: .init(text: uri)
        )

        let bytes = try SealedRecord.bytes(
            of: record,
            secrets,
            installation: thisInstallation,
            acknowledged: ["record-1", "record-2"],
            key: .test()
        )

        #expect(bytes.count < RecordFrame.longest * 3 / 4)
        let reader = RecordReader(key: .test(), installation: InstallationId(thisInstallation, .stored))
        #expect(try #require(reader.finding(in: bytes).opened).record == record)
    }
}
