import CInstruments
import Glibc

/// The baseline: a C epoll server that only moves bytes.
final class BareServer {
    static let name = "C server"
    static let program = Command.ownFolder + "/bare-server"

    let socket: String
    let process: ChildProcess

    init(_ lab: Lab) throws {
        socket = lab.path("bare.sock")
        process = try ChildProcess(Command(Self.program, [socket]), log: lab.path("bare.log"))
        var at: Int64 = 0
        try check(instruments_await_listener(socket, 5_000, &at), "waiting for the bare server")
    }

    var subject: Subject {
        Subject(name: Self.name, processes: [process.id], road: .socket(exchange("session.status")))
    }

    var client: Command { Command(Self.program, ["--ask", socket]) }

    func exchange(_ method: String) -> Exchange { Exchange(socket, method: method) }
}

extension Command {
    /// The folder of this program and of the programs that were built with it.
    static let ownFolder: String = {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let program = path[..<max(0, readlink("/proc/self/exe", &path, path.count))]
        return String(decoding: program[..<(program.lastIndex(of: UInt8(ascii: "/")) ?? 0)], as: UTF8.self)
    }()
}
