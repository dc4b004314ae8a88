import Foundation
import JunctionTesting
import Testing

/// Holds a switch between the start and the end of its write, so that a test can send another request in between.
final class SwitchWindow {
    /// The request that arrives during the switch.
    enum ConcurrentRequest: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case renewal
        /// A renewal for which the daemon asks a session handler.
        case handledRenewal
        /// A token request after alice's token has expired.
        case tokenCaller

        var testDescription: String { rawValue }
    }

    let installation: Installation
    /// The users by the app's names.
    let users: [String: String]
    private let time: ShiftedTime
    private let disk: StallingDisk
    private var handler: AnsweringApp?
    private var switching: Call?
    private var concurrentCall: Call?

    /// Starts the daemon and signs alice in.
    init(handled: Bool) throws {
        installation = try Installation(configuration: handled ? "[renewal]\nmode = \"handler\"" : "")
        time = try ShiftedTime(installation)
        disk = try StallingDisk(installation)
        try installation.startDaemon()
        users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        try IdentifyingApp(installation, users: users).identify("alice")
    }

    /// Starts the switch to bob. Returns when the write of bob's record is held.
    func open(crashingAt point: String) throws {
        try installation.restartDaemon(["JUNCTIOND_CRASH_POINT": point])
        handler = try AnsweringApp(installation, "renew")
        try disk.hold()
        let client = try installation.connect()
        switching = Call(client, try client.request("session.identify", ["externalUserId": "bob"]))
        let question = try client.question()
        try client.reply(to: question.identifier, installation.cloud.credential(for: users["bob"] ?? ""))
        try disk.awaitWrite()
    }

    /// Sends the request. Returns when the daemon has read it, and the answer of a handler if it asks one.
    func send(_ request: ConcurrentRequest) throws {
        if request == .tokenCaller { time.advance(by: .hours(2)) }
        let client = try installation.connect()
        let call = Call(client, try client.request(request == .tokenCaller ? "token.get" : "session.renew"))
        try call.catchUp()
        try handler?.catchUp()
        concurrentCall = call
    }

    /// Continues the write, up to the crash point or to an orderly end of the daemon.
    ///
    /// - Returns: Whether the daemon answered the switch.
    func close() throws -> Bool {
        try disk.release()
        let isAnswered = try switching?.isAnswered() == true
        _ = try concurrentCall?.isAnswered()
        installation.daemon?.signal(SIGTERM)
        try installation.daemon?.wait()
        return isAnswered
    }
}

/// A call whose answer may arrive at any time or never.
private final class Call {
    private let client: RawClient
    private let request: Int
    private var hasAnswer = false

    init(_ client: RawClient, _ request: Int) {
        self.client = client
        self.request = request
    }

    /// Returns when the daemon has read the request, because a later request was answered.
    func catchUp() throws {
        _ = try read(upTo: client.request("daemon.info"))
    }

    /// Waits for the answer or for the end of the daemon.
    func isAnswered() throws -> Bool {
        try hasAnswer || read(upTo: request)
    }

    private func read(upTo awaited: Int) throws -> Bool {
        while let line = try client.line() {
            let message = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object
            if message?["id"] as? Int == request, message?["method"] == nil { hasAnswer = true }
            if message?["id"] as? Int == awaited, message?["method"] == nil { return true }
        }
        return false
    }
}
