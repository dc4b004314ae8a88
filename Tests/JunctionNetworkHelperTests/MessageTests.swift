import JunctionSecret
import Testing

@testable import JunctionNetworkHelper

/// A message is decoded as it was encoded, for any division of its bytes.
struct MessageTests {
    @Test(arguments: DaemonMessage.samples)
    func `a message of the daemon arrives as it was sent`(message: DaemonMessage) throws {
        try arrives(message)
    }

    @Test(arguments: HelperMessage.samples)
    func `a message of the network helper arrives as it was sent`(message: HelperMessage) throws {
        try arrives(message)
    }

    @Test func `messages arrive in order for any size of the chunks`() throws {
        let frames = try DaemonMessage.samples.enumerated().map { number, message in
            try #require(bytes(of: message, UInt32(number)))
        }
        let stream = frames.flatMap(\.self)
        for size in [1, 2, 3, 8, 9, 10, 100, stream.count] {
            var heard: [(number: UInt32, kind: DaemonMessage.Kind)] = []
            var reader = FrameReader<DaemonMessage>()
            for start in stride(from: 0, to: stream.count, by: size) {
                try take(Array(stream[start..<min(start + size, stream.count)]), &reader) {
                    heard.append(($0, $1.kind))
                }
            }
            #expect(heard.map(\.number) == Array(0..<UInt32(frames.count)))
            #expect(heard.map(\.kind) == DaemonMessage.samples.map(\.kind))
            let isInFrame = reader.isInFrame
            #expect(!isInFrame)
        }
    }

    @Test func `a message that is too long is not sent`() {
        let long = SharedSecret(text: String(repeating: "a", count: Flow.longestPart + 1))

        #expect(bytes(of: DaemonMessage.body(long), 1) == nil)
    }

    @Test func `the two directions have no message kind in common`() {
        let daemon = Set(DaemonMessage.Kind.allCases.map(\.rawValue))
        let helper = Set(HelperMessage.Kind.allCases.map(\.rawValue))

        #expect(daemon.isDisjoint(with: helper))
    }

    @Test(
        arguments: [
            ("an unknown kind", [0, 0, 0, 0, 0, 0, 0, 1, 200]),
            ("the helper's own word", [0, 0, 0, 0, 0, 0, 0, 1, 131]),
            ("more than its kind may have", [0, 0, 0, 3, 0, 0, 0, 0, 1]),
            ("all the memory there is", [255, 255, 255, 255, 0, 0, 0, 1, 3]),
            ("a number that is too short", [0, 0, 0, 1, 0, 0, 0, 0, 1, 0]),
            ("a text that is longer than its frame", [0, 0, 0, 5, 0, 0, 0, 1, 3, 0, 0, 0, 9, 65]),
        ] as [(String, [UInt8])]
    )
    func `an invalid frame is refused at the earliest possible byte`(what: String, bytes: [UInt8]) {
        #expect(throws: FormatFault.self, "\(what)") {
            var reader = FrameReader<DaemonMessage>()
            try take(bytes, &reader) { _, _ in }
        }
    }

    @Test(arguments: ["a\r\nb", "a\nb", "a\0b"])
    func `a request with a line break in any part is refused`(value: String) throws {
        for request in [
            TransferRequest(method: "GET", url: "https://a/\(value)", limits: .samples[0]),
            TransferRequest(method: value, url: "https://a/", limits: .samples[0]),
            TransferRequest(
                method: "GET",
                url: "https://a/",
                headers: [(value, SharedSecret(text: "x"))],
                limits: .samples[0]
            ),
            TransferRequest(
                method: "GET",
                url: "https://a/",
                headers: [("x", SharedSecret(text: value))],
                limits: .samples[0]
            ),
        ] {
            let frame = try #require(bytes(of: DaemonMessage.open(request), 1))
            #expect(throws: FormatFault.self) {
                var reader = FrameReader<DaemonMessage>()
                try take(frame, &reader) { _, _ in }
            }
        }
    }

    @Test(arguments: ["", "é", "Junction-Error:", "a b", "a\t", "a(b)", "a\u{FF1A}", "\u{7F}", "a\r\nb"])
    func `a head with an invalid header name is refused, and the next message is read`(name: String) throws {
        let head = try #require(bytes(of: HelperMessage.head(AnswerHead(status: 200, headers: [(name, "x")])), 1))
        let end = try #require(bytes(of: HelperMessage.end, 2))

        #expect(try heard(head + end) == ["1: fault", "2: end"])
    }

    @Test(arguments: ["a\r\nSet-Cookie: b", "\0", "\u{7F}", "\u{1B}[2J"])
    func `a head with a control character in a value is refused, and the next message is read`(value: String) throws {
        let head = try #require(bytes(of: HelperMessage.head(AnswerHead(status: 200, headers: [("x", value)])), 1))
        let end = try #require(bytes(of: HelperMessage.end, 2))

        #expect(try heard(head + end) == ["1: fault", "2: end"])
    }

    private func heard(_ bytes: [UInt8]) throws -> [String] {
        var heard: [String] = []
        var reader = FrameReader<HelperMessage>()
        try bytes.withUnsafeBytes { bytes in
            try reader.take(bytes) { number, message in
                switch message {
                case .success(let message): heard.append("\(number): \(message.kind)")
                case .failure: heard.append("\(number): fault")
                }
            }
        }
        return heard
    }

    private func arrives<Message: FramedMessage>(_ message: Message) throws {
        let sent = try #require(bytes(of: message, 7))
        var heard: [Message] = []
        var reader = FrameReader<Message>()
        try take(sent, &reader) { number, message in
            #expect(number == 7)
            heard.append(message)
        }

        #expect(heard.count == 1)
        // Encoding the decoded message must give the same bytes.
        #expect(try heard.map { try #require(bytes(of: $0, 7)) } == [sent])
    }

    private func take<Message: FramedMessage>(
        _ bytes: [UInt8],
        _ reader: inout FrameReader<Message>,
        each: (UInt32, Message) -> Void
    ) throws(FormatFault) {
        try bytes.withUnsafeBytes { SharedSecret(copying: $0) }.withUnsafeBytes { (bytes) throws(FormatFault) in
            try reader.take(bytes) { (number, message) throws(FormatFault) in each(number, try message.get()) }
        }
    }

    private func bytes(of message: some FramedMessage, _ number: UInt32) -> [UInt8]? {
        guard let frame = Frame.encode(message, of: number) else { return nil }
        return frame.withUnsafeBytes { Array($0) }
    }
}

extension TransferLimits {
    fileprivate static let samples = [
        TransferLimits(resolve: 1, connect: 2, silence: 3, whole: 0, longestAnswer: 0),
        TransferLimits(
            resolve: .max,
            connect: .max,
            silence: .max,
            whole: .max,
            longestAnswer: .max,
            sendDeadline: .max
        ),
    ]
}

extension DaemonMessage {
    fileprivate static let samples: [DaemonMessage] =
        [
            .hello(version: DaemonMessage.version),
            .settings(NetworkSettings()),
            .settings(
                NetworkSettings(
                    trust: SharedSecret(text: "trust"),
                    clientCertificate: SharedSecret(text: "certificate"),
                    clientKey: SharedSecret(text: "key"),
                    proxy: SharedSecret(text: "http://user:password@proxy:3128"),
                    noProxy: "localhost,.example.com"
                )
            ),
            .open(TransferRequest(method: "GET", url: "https://example.com", limits: TransferLimits.samples[0])),
            .open(
                TransferRequest(
                    method: "POST",
                    url: "https://example.com/ü?a=b",
                    headers: [("authorization", SharedSecret(text: "Bearer x")), ("x-empty", .empty)],
                    body: .bytes(9),
                    mayBeRepeated: true,
                    limits: TransferLimits.samples[1]
                )
            ),
            .open(
                TransferRequest(method: "PUT", url: "https://a", body: .streamed, limits: TransferLimits.samples[0])
            ),
            .body(.empty), .body(SharedSecret(text: "body")), .end, .credit(0), .credit(.max), .cancel,
        ]
}

extension HelperMessage {
    fileprivate static let samples: [HelperMessage] =
        [
            .hello(version: DaemonMessage.version), .credit(1), .leaving,
            .head(AnswerHead(status: 204, headers: [])),
            .head(AnswerHead(status: 599, headers: [("a", "b"), ("a", ""), ("A!#$%&'*+-.^_`|~9", "ü: {}")])),
            .body(.empty), .body(SharedSecret(text: String(repeating: "x", count: Flow.longestPart))), .end,
        ]
        + TransferFailure.Cause.allCases.map { .failed(TransferFailure($0, detail: 111, requestLeft: $0 == .closed)) }
}
