import FoundationEssentials
import Glibc

/// The environment of the demo: a temporary folder, a sandbox and a daemon, all of which `clear` removes.
final class DemoStage {
    let folder: String
    private let junctiond: String
    private let junctionctl: String
    private var sandbox: ChildProcess?
    private var daemon: ChildProcess?
    private var others: [ChildProcess] = []
    /// The listening socket from which systemd loads credentials; `nil` where no service can be started.
    private let credentials: Int32?

    var socket: String { folder + "/junctiond.sock" }
    private var logFile: String { folder + "/junctiond.log" }

    init(programs: String?) throws(DemoFailure) {
        junctiond = try Self.find("junctiond", in: programs)
        junctionctl = try Self.find("junctionctl", in: programs)
        // The path of a socket has at most 108 bytes, and the user's TMPDIR may be too long.
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array(((chosen.utf8.count < 60 ? chosen : "/tmp") + "/junction-demo-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw DemoFailure("no temporary folder can be made: \(String(cString: strerror(errno)))")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(DemoFailure) {
            credentials = Self.reasonForNoService == nil ? try Self.listener(at: folder + Self.credentialSocket) : nil
        } catch {
            rmdir(folder)
            throw error
        }
    }

    deinit { if let credentials { close(credentials) } }

    private static func find(_ program: String, in folder: String?) throws(DemoFailure) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = own.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
        let places = folder.map { [$0] } ?? [beside] + path.split(separator: ":").map(String.init)
        guard let place = places.first(where: { access("\($0)/\(program)", X_OK) == 0 }) else {
            throw DemoFailure(
                "\(program) is not to be found: install the package junctiond, or say --programs FOLDER"
            )
        }
        return "\(place)/\(program)"
    }

    /// The end of the daemon's log.
    var log: String {
        let bytes = FileManager.default.contents(atPath: logFile) ?? Data()
        return String(decoding: bytes.suffix(4_000), as: UTF8.self)
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
    }

    // MARK: The cloud

    /// Starts the sandbox at a port with its saved state.
    func startSandbox(tokenLife: Int, port: UInt16 = 0) throws -> LoopbackClient {
        let arguments = [
            "serve", "--listen", "127.0.0.1:\(port)", "--access-token-lifetime", "\(tokenLife)",
            "--state", folder + "/cloud.json",
        ]
        let sandbox = try ChildProcess("/proc/self/exe", arguments, errors: folder + "/sandbox.log")
        self.sandbox = sandbox
        guard let origin = try sandbox.line()?.split(separator: " ").last,
            let port = origin.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw DemoFailure("the sandbox did not start") }
        return LoopbackClient(port: port)
    }

    func stopSandbox() {
        sandbox?.end(SIGTERM)
        sandbox = nil
    }

    // MARK: The daemon

    func startDaemon(until state: String) throws {
        let arguments = ["--config", folder + "/junctiond.toml", "--socket", socket, "--state-dir", folder + "/state"]
        daemon =
            if let credentials {
                // The variable has to name the process id of the daemon, which is the shell's.
                try ChildProcess(
                    "/bin/sh",
                    ["-c", "LISTEN_PID=$$ exec \"$0\" \"$@\"", junctiond] + arguments,
                    environment: ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "credentials"],
                    passed: credentials,
                    errors: logFile
                )
            } else {
                try ChildProcess(junctiond, arguments, errors: logFile)
            }
        _ = try ctl("wait", "--for", state, "--timeout", "15")
    }

    func killDaemon() {
        daemon?.end(SIGKILL)
        daemon = nil
    }

    func endDaemon() throws {
        guard daemon?.end(SIGTERM) == 0 else { throw DemoFailure("the daemon did not end as it should") }
        daemon = nil
    }

    // MARK: A service of systemd

    /// The reason why the demo cannot start a systemd service; `nil` if it can.
    static let reasonForNoService: String? =
        if access("/run/systemd/system", F_OK) != 0 {
            "systemd does not run on this machine"
        } else if geteuid() != 0 {
            "only root can start a service"
        } else if access(systemdRun, X_OK) != 0 {
            "there is no \(systemdRun)"
        } else {
            nil
        }

    private static let systemdRun = "/usr/bin/systemd-run"
    private static let credentialSocket = "/credentials.sock"

    /// The name of the service. No two demos have the same.
    var service: String { "\(folder.split(separator: "/").last ?? "junction-demo").service" }

    /// Runs a shell command as a transient service that loads a credential from the daemon, and returns its output.
    ///
    /// The service has a user of its own. It is of the type `oneshot`, so `systemd-run` waits for its end and needs no
    /// message bus.
    func runService(loading credential: String, _ command: String) throws -> String {
        let output = folder + "/service.out"
        let arguments = [
            "--quiet", "--collect", "--unit=\(service)", "--property=Type=oneshot", "--property=DynamicUser=yes",
            "--property=LoadCredential=\(credential):\(folder)\(Self.credentialSocket)",
            "--property=StandardOutput=file:\(output)", "/bin/sh", "-c", command,
        ]
        let run = try ChildProcess(Self.systemdRun, arguments, errors: folder + "/apps.log")
        others.append(run)
        defer { others.removeAll { $0 === run } }
        _ = try run.rest()
        guard run.status() == 0 else {
            throw DemoFailure("\(service) failed: 'journalctl -u \(service)' says why")
        }
        return String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
    }

    private static func listener(at path: String) throws(DemoFailure) -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(descriptor, 4) == 0 else {
            throw DemoFailure("the socket \(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    // MARK: The apps

    /// Runs `junctionctl` and returns its output. Throws if it fails.
    func ctl(_ arguments: String...) throws -> String { try ctl(arguments) }

    func ctl(_ arguments: [String], given: String? = nil) throws -> String {
        let (status, text) = try run(arguments, given: given)
        guard status == 0 else {
            throw DemoFailure("junctionctl \(arguments.joined(separator: " ")) ended with \(status): \(text)")
        }
        return text
    }

    func run(_ arguments: String...) throws -> (status: Int32, text: String) { try run(arguments, given: nil) }

    private func run(_ arguments: [String], given: String?) throws -> (status: Int32, text: String) {
        let app = try start(arguments, given: given)
        defer { others.removeAll { $0 === app } }
        let text = try app.rest()
        return (app.status(), text)
    }

    /// Returns the first line of `junctionctl watch` that fits.
    func watch(until wanted: (String) -> Bool) throws -> String {
        let watcher = try start(["watch", "--json"], given: nil)
        defer {
            watcher.end(SIGTERM)
            others.removeAll { $0 === watcher }
        }
        while let line = try watcher.line() { if wanted(line) { return line } }
        throw DemoFailure("the watcher ended")
    }

    private func start(_ arguments: [String], given: String?) throws -> ChildProcess {
        let app = try ChildProcess(
            junctionctl,
            arguments,
            environment: ["JUNCTIOND_SOCKET": socket],
            given: given,
            errors: folder + "/apps.log"
        )
        others.append(app)
        return app
    }

    /// Ends all child processes and deletes the folder.
    func clear() {
        for process in others + [daemon, sandbox].compactMap(\.self) { process.end(SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
