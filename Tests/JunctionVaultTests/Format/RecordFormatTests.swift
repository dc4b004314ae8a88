import JunctionJSON
import JunctionSecret
import JunctionSession
import Testing

@testable import JunctionVault

@Suite struct RecordFormatTests {
    private let reader = RecordReader(key: .test(), installation: InstallationId(thisInstallation, .stored))

    static let contents: [SessionRecord.Content] = [
        .signedOut,
        .configured(environment: "production", region: "us"),
        .session(.test()),
        .session(
            StoredSession(
                identity: Identity(userId: "u"),
                scheme: .apiKey,
                token: nil,
                reauthenticationPending: true
            )
        ),
        .session(
            StoredSession(
                identity: Identity(userId: "u"),
                scheme: .device,
                token: nil,
                reauthenticationPending: true,
                unexplainedRefusals: UnexplainedRefusals(count: 3, firstAt: WallTime(milliseconds: -7))
            )
        ),
        .terminated(
            Termination(code: "invalid_token", message: "gone \u{1F5D1}", at: WallTime(milliseconds: 5)),
            Identity(userId: "u-1", region: "eu")
        ),
        .terminated(Termination(code: "400312", message: "", at: WallTime(milliseconds: -5)), nil),
    ]

    @Test(arguments: contents)
    func `a sealed record is restored unchanged`(content: SessionRecord.Content) {
        let record = SessionRecord.test(7, edition: 3, content)

        let finding = reader.finding(in: sealed(record))

        #expect(finding.opened?.record == record)
        #expect(finding.opened?.secrets.texts == ["access-7", "refresh-7", "key-7"])
    }

    @Test func `a user id keeps its case in the sealed part and in the header`() throws {
        let session = StoredSession(identity: Identity(userId: "Anna"), scheme: .userLogin, token: nil)
        let record = SessionRecord.test(7, edition: 3, .session(session))

        let opened = try #require(reader.finding(in: sealed(record)).opened?.record)

        guard case .session(let read) = opened.content else { return #expect(Bool(false), "no session") }
        #expect(read.identity.userId == "Anna")
        #expect(String(decoding: sealed(record), as: UTF8.self).contains(#""userId":"Anna""#))
    }

    @Test func `a session without secrets stays without secrets`() throws {
        let bytes = try SealedRecord.bytes(
            of: .test(7),
            SessionSecrets(),
            installation: thisInstallation,
            key: .test()
        )

        #expect(reader.finding(in: bytes).opened?.secrets.texts == [nil, nil, nil])
    }

    @Test func `the file does not show the secrets`() {
        let text = String(decoding: sealed(.test(7)), as: UTF8.self)

        #expect(text.contains("u-1"))
        #expect(!text.contains("access-7") && !text.contains("refresh-7") && !text.contains("key-7"))
    }

    @Test func `the same record is never sealed to the same bytes twice`() {
        #expect(sealed(.test(7)) != sealed(.test(7)))
    }

    @Test func `a record that is cut off at any byte is not authentic`() {
        let whole = sealed(.test(7))
        let endOfClear = whole.count - (RecordPayload(content: SessionRecord.test(7).content, secrets: .test(7)).length)

        for length in whole.indices {
            switch reader.finding(in: Array(whole.prefix(length))) {
            case .torn: #expect(length < endOfClear, "torn at \(length)")
            case .altered: #expect(length >= endOfClear, "altered at \(length)")
            case let finding: Issue.record("\(length) bytes of \(whole.count): \(finding)")
            }
        }
    }

    @Test func `a record with one altered byte is not authentic`() {
        let whole = sealed(.test(7))

        for index in whole.indices {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var bytes = whole
                bytes[index] ^= mask
                switch reader.finding(in: bytes) {
                case .torn, .altered, .illegible: continue
                case let finding: Issue.record("byte \(index) ^ \(mask): \(finding)")
                }
            }
        }
    }

    @Test func `a record with extra bytes at the end is not authentic`() {
        #expect(reader.finding(in: sealed(.test(7)) + [0]).isAltered)
    }

    @Test(arguments: [("\"generation\":7", "\"generation\":8"), ("u-1", "u-2"), ("established", "terminated")])
    func `a changed header breaks the seal, even with a matching checksum`(old: String, new: String) throws {
        let whole = sealed(.test(7))
        let frame = try RecordFrame(reading: whole)
        let headerText = String(decoding: frame.header.encoded(), as: UTF8.self)
        let forged = headerText.replacing(old, with: new)
        #expect(forged != headerText)

        let clear = framed(header: forged)
        let bytes = clear.settingSealedLength(of: frame) + (frame.sealed ?? [])

        #expect(reader.finding(in: bytes).isAltered)
    }

    @Test func `a record under another key is locked, not damaged`() {
        #expect(reader.finding(in: sealed(.test(7), key: .test(2))).lock == .otherKey)
    }

    @Test func `a record is locked without a key`() {
        let reader = RecordReader(key: nil, installation: InstallationId(thisInstallation, .stored))

        #expect(reader.finding(in: sealed(.test(7))).lock == .noKey)
    }

    @Test func `a record of another installation is locked although the key fits`() {
        #expect(reader.finding(in: sealed(.test(7), by: otherInstallation)).lock == .otherInstallation)
    }

    @Test(arguments: [SealingKey.test(), .test(2), nil])
    func `a tombstone is accepted with any key and without one`(key: SealingKey?) {
        let record = SessionRecord.test(9, .signedOut)

        for writer in [SealingKey.test(), nil] {
            let reader = RecordReader(key: key, installation: InstallationId(otherInstallation, .stored))
            var expected = record
            expected.mayHoldUnreadSignIns = writer != nil && key?.id != writer?.id
            #expect(reader.finding(in: sealed(record, key: writer)).opened?.record == expected)
        }
    }

    @Test(arguments: [SealingKey.test(), nil])
    func `a tombstone that is too short or too long is refused`(writer: SealingKey?) {
        let reader = RecordReader(key: nil, installation: InstallationId(thisInstallation, .stored))
        let whole = sealed(.test(9, .signedOut), key: writer)

        #expect(reader.finding(in: whole.dropLast()).opened == nil)
        #expect(reader.finding(in: whole + [0]).opened == nil)
    }

    @Test func `a record with a token that is not text is refused`() {
        let token = [0xFF, 0xFE].withUnsafeBytes { SharedSecret(copying: $0) }

        #expect(throws: SealedRecord.Fault.unreadable) {
            try SealedRecord.bytes(
                of: .test(7),
                SessionSecrets(accessToken: token),
                installation: thisInstallation,
                key: .test()
            )
        }
    }

    @Test func `a record above the length limit is refused`() {
        let token = SharedSecret(text: String(repeating: "x", count: RecordFrame.longest))

        #expect {
            try SealedRecord.bytes(
                of: .test(7),
                SessionSecrets(accessToken: token),
                installation: thisInstallation,
                key: .test()
            )
        } throws: { error in
            if case .tooLong? = error as? SealedRecord.Fault { true } else { false }
        }
    }

    @Test func `a record of a newer format is recognised and not opened`() {
        #expect(reader.finding(in: framed(version: 3, header: "{\"of\":\"the future\"}")).newerFormat == 3)
    }

    @Test func `a record of format 0 is illegible`() {
        #expect(reader.finding(in: framed(version: 0, header: header())).isIllegible)
    }

    @Test func `a record of the first format is read with defaults for its missing members`() throws {
        let opened = try #require(reader.finding(in: .firstFormat).opened)
        guard case .session(let session) = opened.record.content else {
            Issue.record("\(opened.record.content)")
            return
        }

        #expect((opened.record.generation, opened.record.edition) == (4, 0))
        #expect(session.identity == Identity(userId: "u-1", environment: "sandbox", region: "eu"))
        #expect(session.externalUserId == nil)
        #expect(session.renewalUnderWay == false)
        #expect(session.token?.generation == 4)
        #expect(opened.secrets.texts == ["access-4", "refresh-4", nil])
    }

    /// Earlier releases wrote every user id in lower case into the header, and unchanged into the sealed part.
    @Test func `an earlier release's record of a user id with capitals keeps that user`() throws {
        let bytes = framed(
            header: """
                {"installation":"\(thisInstallation)","generation":4,"edition":1,"key":"\(SealingKey.test().id)",\
                "provider":"social","scheme":"userLogin","state":"established","userId":"anna",\
                "writtenAt":1700000000004}
                """,
            sealing: """
                {"identity":{"userId":"Anna"},"scheme":"userLogin",\
                "token":{"issuedAt":1700000000000,"expiresAt":1702592000000,"generation":4},\
                "renewAt":1701500000000,"reauthenticationPending":false,"renewalUnderWay":false,\
                "secrets":{"accessToken":"access-4"}}
                """
        )

        let opened = try #require(reader.finding(in: bytes).opened)

        guard case .session(let session) = opened.record.content else {
            Issue.record("\(opened.record.content)")
            return
        }
        #expect(session.identity.isSameUser(as: Identity(userId: "Anna")))
        #expect(!session.identity.isSameUser(as: Identity(userId: "anna")))
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "{\"generation\":7}",
        header(and: ",\"generation\":-1"),
        header(and: ",\"generation\":18446744073709551615"),
        header(and: ",\"edition\":4294967296"),
        header(and: ",\"edition\":1.5"),
        header(and: ",\"writtenAt\":-9223372036854775808"),
        header(and: ",\"state\":\"established \""),
        header(and: ",\"scheme\":\"none\""),
        header(and: ",\"key\":null"),
    ])
    func `an invalid header is illegible`(text: String) {
        #expect(reader.finding(in: framed(header: text, sealing: "{\"secrets\":{}}")).isIllegible)
    }

    @Test(arguments: [
        "", "{}", "[]", "{\"secrets\":{}}", "{\"secrets\":{},\"identity\":{}}",
        "{\"secrets\":{},\"identity\":{\"userId\":\"u\"},\"scheme\":\"x\"}",
        "{\"secrets\":{},\"identity\":{\"userId\":7},\"scheme\":\"apiKey\",\"reauthenticationPending\":false}",
        "{\"secrets\":{},\"identity\":{\"userId\":\"u\"},\"scheme\":\"apiKey\",\"reauthenticationPending\":false}",
        "{\"secrets\":{},\"identity\":{\"userId\":\"u\"},\"scheme\":\"apiKey\",\"reauthenticationPending\":false,"
            + "\"renewalUnderWay\":false,\"token\":{\"generation\":1}}",
    ])
    func `a payload that does not match its header counts as altered`(text: String) {
        #expect(reader.finding(in: framed(header: header(), sealing: text)).isAltered)
    }

    @Test func `an impossible generation without a verified seal is illegible`() {
        let lie = header(key: .test(2), state: "established", and: ",\"generation\":9007199254740992")

        #expect(reader.finding(in: framed(header: lie)).isIllegible)
    }

    @Test(arguments: [UInt32.max, 1 << 31, 1 << 18, 0])
    func `a record with wrong lengths is not opened`(length: UInt32) {
        for offset in [9, 13] {
            var bytes = sealed(.test(7))
            bytes.replaceSubrange(offset..<offset + 4, with: withUnsafeBytes(of: length.bigEndian, Array.init))
            #expect(reader.finding(in: bytes).opened == nil)
        }
    }

    @Test func `a file of zeros, which a power cut may leave, is torn`() {
        #expect(reader.finding(in: [UInt8](repeating: 0, count: 4096)).isTorn)
    }

    @Test func `a file that is not a record is illegible`() {
        #expect(reader.finding(in: Array("{\"token\":1}".utf8)).isIllegible)
    }
}

extension Candidate.Finding {
    var opened: OpenedRecord? {
        if case .authentic(let opened) = self { opened } else { nil }
    }

    fileprivate var lock: Candidate.Lock? {
        if case .locked(_, let lock) = self { lock } else { nil }
    }

    fileprivate var newerFormat: UInt8? {
        if case .newer(let format) = self { format } else { nil }
    }

    fileprivate var isAltered: Bool {
        if case .altered = self { true } else { false }
    }

    fileprivate var isIllegible: Bool {
        if case .illegible = self { true } else { false }
    }

    fileprivate var isTorn: Bool {
        if case .torn = self { true } else { false }
    }
}

extension RecordPayload {
    /// The length of the sealed part.
    fileprivate var length: Int { encoded().count + SealingKey.overhead }
}
