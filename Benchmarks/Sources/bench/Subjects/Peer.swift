import CInstruments
import Glibc

/// A daemon of others that does a job like ours.
protocol Peer: AnyObject {
    static var name: String { get }
    /// The Debian package that has it.
    static var package: String { get }
    static var programs: [String] { get }
    /// What it is asked for here is an access token; if not, it is more like a status.
    static var handsOutTokens: Bool { get }

    /// Starts one with nothing in it.
    static func launch(_ lab: Lab) throws -> LaunchedPeer

    /// Starts one and gives it what it shall answer with.
    init(_ lab: Lab) throws

    var launched: LaunchedPeer { get }
    var road: Subject.Road { get }
    /// Its own client, asking for what it has in memory.
    var client: Command { get }
}

extension Peer {
    static var handsOutTokens: Bool { false }

    var name: String { Self.name }
    var handsOutTokens: Bool { Self.handsOutTokens }
    var processes: [Int32] { launched.process.family }
    var subject: Subject { Subject(name: name, processes: processes, road: road) }
}

/// A peer that accepts connections.
struct LaunchedPeer {
    let socket: String
    let process: ChildProcess
    /// Milliseconds from exec until it accepted.
    let startTime: Double

    /// Starts it and waits. Who detaches from us is found by `process`.
    init(
        _ command: Command,
        listeningOn socket: String,
        log: String,
        process: (ChildProcess) throws -> ChildProcess = { $0 }
    ) throws {
        let started = try ChildProcess(command, log: log)
        var at: Int64 = 0
        try check(instruments_await_listener(socket, 10_000, &at), "waiting for \(socket)")
        self.socket = socket
        self.process = try process(started)
        startTime = Double(at - started.startedAt) / 1e6
    }
}
