import CCurl
import CLinux
import Foundation
import Glibc
import JunctionNetworkHelper
import JunctionSecret
import JunctionTesting
import Testing

@testable import junctiond_courier

/// One request with the real libcurl to a server on loopback.
struct TransferTests {
    /// The socket has space for `leaving` and nothing after it, or for no message at all.
    @Test(.timeLimit(.minutes(5)), arguments: [0, 1])
    func `a request does not leave after its send deadline, however long the daemon does not read`(
        room: Int
    ) throws {
        let patience = 1_000
        let server = try TestListener()
        let daemon = try BlockedDaemon(room: room)
        let manager = try FakeServiceManager(.abstract)
        let sendDeadline = clinux_boot_milliseconds() + Int64(patience)
        Thread.detachNewThread { [socket = daemon.helper, port = server.port] in
            defer { close(socket) }
            guard let connection = DaemonConnection(socket) else { return }
            // A heartbeat at once when the helper has to wait, and the next one after the deadline.
            connection.signs = WatchdogHeartbeat { manager.environment(limit: 2_000 * patience)[$0] }
            carry("http://127.0.0.1:\(port)/", until: sendDeadline, for: connection)
        }
        for _ in 0..<2 { #expect(manager.awaitDatagram() == "WATCHDOG=1") }
        #expect(clinux_boot_milliseconds() >= sendDeadline)

        let messages = try daemon.messages()
        #expect(messages.count == 1)
        if case .failed(let failure) = messages.last {
            #expect(failure == TransferFailure(.connectedTooLate, requestLeft: false))
        } else {
            Issue.record("It ended with \(messages)")
        }
        #expect(try server.accept()?.lines.chunk().isEmpty == true)
    }
}

/// Runs one transfer with a body to its end.
private func carry(_ url: String, until sendDeadline: Int64, for daemon: DaemonConnection) {
    guard let network = curl_multi_init() else { return }
    defer { curl_multi_cleanup(network) }
    var limits = TransferLimits(resolve: 60_000, connect: 60_000, silence: 60_000, whole: 60_000, longestAnswer: 1)
    limits.sendDeadline = UInt64(sendDeadline)
    let body = SharedSecret(text: "refresh_token")
    let request = TransferRequest(method: "POST", url: url, body: .bytes(UInt64(body.count)), limits: limits)
    let transfer = Transfer(request, 1, .direct, for: daemon)
    guard transfer.begin(on: network, using: NetworkSettings(), trusting: TrustStore()) == nil else { return }
    transfer.give(body)
    transfer.giveEnd()
    var running: Int32 = 0
    var outcome = CURLE_OK
    while true {
        curl_multi_perform(network, &running)
        if ccurl_next_done(network, &outcome) != nil { return transfer.finish(outcome) }
        curl_multi_poll(network, nil, 0, 1_000, nil)
    }
}

/// A daemon that does not read. Its socket has space for only a few short messages.
private final class BlockedDaemon: Sendable {
    let helper: Int32
    private let socket: TestSocket
    /// The number of messages that were sent before and are still unread.
    private let before: Int

    init(room: Int) throws {
        let daemon: Int32
        (helper, daemon) = try makeSocketPair()
        socket = TestSocket(adopting: daemon, patience: 120)
        // The kernel counts a message with its overhead, so each message occupies the space of another short one.
        var bytes: [UInt8] = [0, 0, 0, 0]
        var before = 0
        while send(helper, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 { before += bytes.count }
        for _ in 0..<room { before -= recv(daemon, &bytes, bytes.count, 0) }
        self.before = before
    }

    /// Returns the messages that arrived after the daemon stopped reading. It reads everything in any case: if this end
    /// closes, the helper ends its process.
    func messages() throws -> [HelperMessage] {
        let said = try socket.lines.rest()
        var reader = FrameReader<HelperMessage>()
        var messages: [HelperMessage] = []
        try said.dropFirst(before).withUnsafeBytes { bytes in
            try reader.take(bytes) { (_, message) throws(FormatFault) in messages.append(try message.get()) }
        }
        return messages
    }
}
