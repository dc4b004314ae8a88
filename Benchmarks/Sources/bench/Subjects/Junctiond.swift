import CInstruments
import Glibc

/// The daemon, with its own state directory.
final class Junctiond {
    let socket: String
    let sandbox: Sandbox?
    /// The command that started it and can restart it.
    let command: Command
    let process: ChildProcess
    /// The unit whose processes it admits; if nil, it admits only root.
    private let group: UnitGroup?
    private let log: String
    private var user: String?

    /// Starts the daemon and waits for its socket. Without a sandbox it has no provider.
    init(_ lab: Lab, sandbox: Sandbox?, stateInMemory: Bool = false, admitting group: UnitGroup? = nil) throws {
        self.sandbox = sandbox
        self.group = group
        socket = lab.path("junctiond.sock")
        log = lab.path("junctiond.log")
        let configuration = lab.path("junctiond.toml")
        try lab.write(Self.configuration(sandbox, admitting: group), to: configuration)
        let state = try lab.folder("state", inMemory: stateInMemory)
        command = Command(
            try lab.program("junctiond"),
            ["--config", configuration, "--socket", socket, "--state-dir", state]
        )
        process = try ChildProcess(command, log: log)
        var at: Int64 = 0
        let failed = instruments_await_listener(socket, 10_000, &at)
        try check(failed, "waiting for junctiond, which said: \(lastWords)")
        if group != nil { try lab.letOthersConnect(to: socket) }
    }

    var processes: [Int32] { [process.id] }

    /// The helper stays for half a minute after its last request, so a measurement of the idle daemon starts later.
    func waitUntilHelperIsGone() {
        for _ in 0..<90 where processes.contains(where: { ProcessFacts.family(of: $0).count > 1 }) { sleep(1) }
    }

    func exchange(_ method: String) -> Exchange { Exchange(socket, method: method) }

    /// Its subjects differ in the request.
    func subject(_ method: String) -> Subject {
        Subject(name: method, processes: processes, road: .socket(exchange(method)))
    }

    /// A subject whose caller has rights only by its unit; `nil` if the daemon admits none.
    func subjectOfUnit(_ method: String) -> Subject? {
        group.map { group in
            Subject(
                name: "\(method) by a caller of a unit",
                processes: processes,
                road: .unit(exchange(method), group)
            )
        }
    }

    /// Checks that the unit gives the rights: the same process outside of it is denied.
    func checkThatOnlyTheUnitIsAdmitted(to method: String) throws {
        do {
            _ = try exchange(method).roundTrips(1, from: nil)
        } catch let trouble as Trouble where trouble.code == EACCES {
            return
        }
        throw Trouble("junctiond answers \(method) to a process outside the only unit that it admits")
    }

    func connect() throws -> RpcConnection { try RpcConnection(socket) }

    /// Signs in a new user, or the same one again.
    func signIn(_ connection: RpcConnection? = nil) throws {
        guard let sandbox else { throw Trouble("no cloud to sign in to") }
        let user = try user ?? sandbox.createUser()
        self.user = user
        let token = try sandbox.signInToken(for: user)
        try (connection ?? connect()).call("session.signIn", ["scheme": "signInToken", "token": token])
    }

    /// The renewal part of the snapshot.
    func renewalPhase() throws -> String {
        let snapshot = try connect().call("session.status") as? [String: Any]
        let renewal = snapshot?["renewal"] as? [String: Any]
        return renewal?["phase"] as? String ?? "unknown"
    }

    private var lastWords: String {
        let lines = (try? ProcessFacts.contents(of: log)) ?? []
        return lines.suffix(5).joined(separator: "\n")
    }

    private static func configuration(_ sandbox: Sandbox?, admitting group: UnitGroup?) -> String {
        var text = """
            [limits]
            connections = 20000
            inFlight = 20000
            providerCallsPerMinute = 10000

            """
        if let sandbox { text += "[junction]\nauthUrl = \"\(sandbox.origin)\"\napiUrl = \"\(sandbox.origin)\"\n" }
        if let authority = sandbox?.authority { text += "[tls]\ncaFile = \"\(authority)\"\n" }
        if let group { text += "[[access]]\nallow = [\"status\", \"token\"]\nunit = \"\(group.unit)\"\n" }
        return text
    }
}
