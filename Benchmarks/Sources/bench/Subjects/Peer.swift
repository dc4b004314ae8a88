import CInstruments
import Glibc

/// An agent of another project with a similar job.
protocol Peer: AnyObject {
    static var name: String { get }
    /// The Debian package that contains it.
    static var package: String { get }
    static var programs: [String] { get }
    /// Whether its request is for an access token; otherwise it is more like a status.
    static var handsOutTokens: Bool { get }

    /// Starts one without content.
    static func launch(_ lab: Lab) throws -> LaunchedPeer

    /// Starts one with the content of its answers.
    init(_ lab: Lab) throws

    var launched: LaunchedPeer { get }
    var road: Subject.Road { get }
    /// Its own client, which requests something from memory.
    var client: Command { get }
}

extension Peer {
    static var handsOutTokens: Bool { false }

    var name: String { Self.name }
    var handsOutTokens: Bool { Self.handsOutTokens }
    var processes: [Int32] { launched.process.family }
    var subject: Subject { Subject(name: name, processes: processes, road: road) }
}

/// A running peer that accepts connections.
struct LaunchedPeer {
    let socket: String
    let process: ChildProcess
    /// Milliseconds from exec to accepting.
    let startTime: Double

    /// Starts the peer and waits for it. `process` finds one that detaches itself.
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
