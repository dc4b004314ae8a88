import Foundation
import JunctionTesting
import Testing

/// The time between the beginning of a switch's write and its end, made as long as a test wants.
final class SwitchWindow {
    /// Who comes in between.
    enum Intruder: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case renewal
        /// The same, where a handler is asked, and says yes.
        case handledRenewal
        /// A caller who wants a token after alice's has ended.
        case tokenCaller

        var testDescription: String { rawValue }
    }

    let installation: Installation
    /// By the app's own names for them.
    let users: [String: String]
    private let time: ShiftedTime
    private let disk: HeldDisk
    private var handler: AnsweringApp?
    private var switching: Call?
    private var intruding: Call?

    /// Alice is signed in.
    init(handled: Bool) throws {
        installation = try Installation(configuration: handled ? "[renewal]\nmode = \"handler\"" : "")
        time = try ShiftedTime(installation)
        disk = try HeldDisk(installation)
        try installation.startDaemon()
        users = try ["alice": installation.cloud.makeUser("alice"), "bob": installation.cloud.makeUser("bob")]
        try IdentifyingApp(installation, users: users).identify("alice")
    }

    /// Bob's session has been granted, and its record waits for the disk.
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

    /// Returns when the daemon has read the intruder's call, and what a handler says if it asks one.
    func admit(_ intruder: Intruder) throws {
        if intruder == .tokenCaller { time.advance(by: .hours(2)) }
        let client = try installation.connect()
        let call = Call(client, try client.request(intruder == .tokenCaller ? "token.get" : "session.renew"))
        try call.catchUp()
        try handler?.catchUp()
        intruding = call
    }

    /// The write goes on, and the daemon with it, to its crash point or to its end in good order.
    ///
    /// - Returns: whether the switch was answered.
    func close() throws -> Bool {
        try disk.release()
        let isAnswered = try switching?.isAnswered() == true
        _ = try intruding?.isAnswered()
        installation.daemon?.signal(SIGTERM)
        try installation.daemon?.wait()
        return isAnswered
    }
}

/// A call whose answer may come at any time, or never.
private final class Call {
    private let client: RawClient
    private let request: Int
    private var hasAnswer = false

    init(_ client: RawClient, _ request: Int) {
        self.client = client
        self.request = request
    }

    /// Returns when the daemon has read the request: what is asked after it has been answered.
    func catchUp() throws {
        _ = try read(upTo: client.request("daemon.info"))
    }

    /// Waits for the answer, or for the end of the daemon.
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
