import Foundation
import JunctionTesting
import Testing

/// Tests of the largest number and size of API answers that callers can request.
struct ApiLoadTests {
    private static let body = 8_388_000

    @Test func `sixty answers of 8 MiB at once keep the daemon below the MemoryMax of its unit`() throws {
        let installation = try Installation.started()
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["match": "/v2/user/\(user)", "oversize": Self.body])
        let params = #"{"method":"GET","path":"/v2/user/\#(user)"}"#
        let line = #"{"jsonrpc":"2.0","id":1,"method":"api.request","params":\#(params)}"#

        let callers = try (0..<60).map { _ in try LineCounter(installation.socket) }
        for caller in callers { try caller.send(line) }
        let answers = try LineCounter.readLines(of: callers)

        // One user may have at least this number of transfers. The daemon asks the other callers to retry.
        #expect(answers.count { $0 > Self.body } >= 48)
        #expect(answers.allSatisfy { $0 > Self.body || $0 < 1_000 })
        #expect(try installation.peakMemory() < Self.memoryLimit())
        #expect(try installation.connect().call("session.status").state == "established")
    }

    @Test(.enabled("Only root can be two users") { geteuid() == 0 })
    func `a user whose calls all hang leaves transfers for other users`() throws {
        let access = """
            [[access]]
            allow = ["api", "status"]
            """
        let (installation, otherUser) = try OtherUser.installation(configuration: access)
        let user = try installation.signInNewUser()
        try installation.cloud.fault(["match": "/v2/user/\(user)", "hang": true])
        let client = try installation.connect()

        // The daemon has this number of transfers for API calls.
        let calls = try (0..<192).map { _ in
            try client.request("api.request", ["method": "GET", "path": "/v2/user/\(user)"])
        }
        var busy = 0
        while busy < 192 - 48 {
            let answer = try client.message()
            #expect((answer["error"] as? Object)?["code"] as? Int == 1011)
            busy += 1
        }
        let other = try otherUser.ctl("api", "GET", "/v2/providers")
        try installation.cloud.clearFaults()
        try installation.cloud.release()

        #expect(other.status == 0, "\(other.errors)")
        #expect(calls.count == 192)
    }

    /// `MemoryMax=` of the unit in this repository, in bytes.
    private static func memoryLimit() throws -> Int {
        let unit = try String(contentsOfFile: Program.root + "/systemd/junctiond.service", encoding: .utf8)
        let value = try #require(unit.split(separator: "\n").first { $0.hasPrefix("MemoryMax=") }?.dropFirst(10))
        return try #require(Int(value.dropLast())) << (value.hasSuffix("M") ? 20 : 30)
    }
}

/// A client that counts the bytes of its only answer.
private final class LineCounter {
    private let socket: TestSocket
    private var count = 0
    private var isOver = false

    init(_ path: String) throws {
        socket = try TestSocket(.path(path))
    }

    func send(_ line: String) throws { try socket.send(line + "\n") }

    /// Reads one line from each client as it arrives, and returns the lengths.
    static func readLines(of clients: [LineCounter]) throws -> [Int] {
        var room = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let waiting = clients.filter { !$0.isOver }
            guard !waiting.isEmpty else { return clients.map(\.count) }
            var asked = waiting.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&asked, nfds_t(asked.count), 60_000) > 0 else {
                throw TestFailure(description: "\(waiting.count) answers did not come: \(waiting.map(\.count))")
            }
            for (client, ready) in zip(waiting, asked) where ready.revents != 0 { try client.read(into: &room) }
        }
    }

    private func read(into room: inout [UInt8]) throws {
        let got = Glibc.read(socket.descriptor, &room, room.count)
        guard got > 0 else { throw TestFailure(description: "The daemon closed a connection after \(count) bytes") }
        count += got
        isOver = room[got - 1] == UInt8(ascii: "\n")
    }
}
