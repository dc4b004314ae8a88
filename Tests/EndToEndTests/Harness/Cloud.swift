import Foundation
import JunctionTesting

/// The sandbox cloud of one test, and the ways to drive it and to break it.
final class Cloud {
    static let teamKey = "sk_us_endtoend"

    /// Where the daemon finds it.
    private(set) var url = ""
    /// Where the test does: a TLS front is for the daemon.
    private var place = ""
    private let folder: TemporaryFolder
    private let arguments: [String]
    private let http: CloudHttp
    private let tls: TestAuthority?
    private var sandbox: TalkingProgram?
    private var front: TLSFront?
    /// Who was made here.
    private var users: [String] = []

    /// - Parameter tls: signs the certificate of the TLS front before it, if there is to be one.
    init(in folder: TemporaryFolder, accessTokenLifetime: Int, rotationGrace: Int, tls: TestAuthority?) throws {
        self.folder = folder
        http = CloudHttp()
        self.tls = tls
        arguments = [
            "--access-token-lifetime", "\(accessTokenLifetime)", "--rotation-grace", "\(rotationGrace)",
            "--state", folder.path + "/cloud.json",
        ]
        try startSomewhere()
    }

    // MARK: Running

    /// Somebody else on this machine may have a port already.
    private func startSomewhere() throws {
        for _ in 1..<20 {
            do {
                return try startOnce()
            } catch let failure as Program.Failure where failure.description.contains("cannot listen on") {
                continue
            }
        }
        try startOnce()
    }

    private func startOnce() throws {
        let port = LoopbackPort.next()
        if let tls { front = try TLSFront(tls.certificate(), before: port) }
        try start(port: port)
    }

    private func start(port: Int) throws {
        place = "http://127.0.0.1:\(port)"
        let sandbox = try TalkingProgram(
            "junction-sandbox",
            ["--listen", "127.0.0.1:\(port)"] + arguments + (front.map { ["--origin", $0.origin] } ?? []),
            in: folder
        )
        guard let url = try sandbox.lines.next()?.split(separator: " ").last else {
            throw Program.Failure(description: "The sandbox did not start: \(sandbox.program.errors)")
        }
        self.sandbox = sandbox
        self.url = String(url)
    }

    /// The network is gone, as far as the daemon can see.
    func stop() throws {
        sandbox?.program.signal(SIGKILL)
        try sandbox?.program.wait()
        sandbox = nil
    }

    /// The same cloud at the same address, with what it remembered.
    func restart() throws {
        try stop()
        try start(port: place.split(separator: ":").last.flatMap { Int($0) } ?? 0)
    }

    // MARK: The backend

    private func send(_ method: String, _ path: String, _ body: Object? = nil, headers: [String] = []) throws -> Object
    {
        let (status, answer) = try http.send(method, place, path, body, headers: headers)
        guard status < 400 else { throw Program.Failure(description: "\(method) \(path): \(status) \(answer)") }
        return answer
    }

    /// A new user, as the backend would make one.
    func makeUser(_ name: String = "alice") throws -> String {
        let key = ["x-vital-api-key: \(Self.teamKey)"]
        let user = try send("POST", "/v2/user", ["client_user_id": name], headers: key).string("user_id")
        users.append(user)
        return user
    }

    /// Whose access token it is, of the users that were made here: a token opens its own user's path, and no other's.
    /// Nobody's if it opens nothing.
    func owner(of accessToken: String?) throws -> String? {
        guard let accessToken else { return nil }
        let bearer = ["authorization: Bearer \(accessToken)"]
        return try users.first { user in
            try http.send("GET", place, "/v2/user/\(user)", nil, headers: bearer).status == 200
        }
    }

    /// A Sign-In Token, as the backend would get one; or another kind, see `docs/sandbox.md`.
    func signInToken(for user: String, _ wishes: Object = [:]) throws -> String {
        try send("POST", "/sandbox/users/\(user)/sign-in-token", wishes).string("signInToken")
    }

    func credential(for user: String) throws -> Object {
        ["scheme": "signInToken", "token": try signInToken(for: user)]
    }

    func linkCode(for user: String) throws -> String {
        try send("POST", "/sandbox/users/\(user)/link-code", [:]).string("code")
    }

    /// A form, posted as a browser does; where it sends the browser next.
    func post(_ path: String, _ form: [String: String]) throws -> (status: Int, redirect: String?) {
        try http.post(form: form, place, path)
    }

    // MARK: Driving

    /// `delete`, `require-reauthentication`, `expire-access-tokens` and so on.
    func drive(_ verb: String, _ user: String) throws {
        _ = try send("POST", "/sandbox/users/\(user)/\(verb)")
    }

    /// One call to the sandbox's endpoints for a vendor.
    @discardableResult
    func sandbox(_ method: String, _ path: String, _ body: Object? = nil) throws -> Object {
        try send(method, "/sandbox/" + path, body)
    }

    func change(_ settings: Object) throws {
        _ = try send("POST", "/sandbox/settings", settings)
    }

    /// Spoils what fits; see `docs/sandbox.md`. Renewals, unless the fault says something else.
    func fault(_ fault: Object) throws {
        let renewals: Object = ["match": "/v1/token", "grant": "refresh_token"]
        _ = try send("POST", "/sandbox/faults", fault["match"] == nil ? fault.merging(renewals) { $1 } : fault)
    }

    func clearFaults() throws {
        _ = try send("DELETE", "/sandbox/faults")
    }

    /// Lets go what hangs.
    func release() throws {
        _ = try send("POST", "/sandbox/release")
    }

    // MARK: Looking

    func counters() throws -> Object {
        try send("GET", "/sandbox/counters")
    }

    func counter(_ name: String) throws -> Int {
        try counters().integer(name)
    }

    /// Waits until a counter has got so far.
    func wait(for counter: String, atLeast goal: Int = 1) throws {
        _ = try send("GET", "/sandbox/await?counter=\(counter)&atLeast=\(goal)")
    }

    func requests(to path: String) throws -> [Object] {
        try send("GET", "/sandbox/requests?path=\(path)")["requests"] as? [Object] ?? []
    }

    deinit {
        sandbox?.program.signal(SIGKILL)
        front?.stop()
    }
}

extension [String: Any] {
    fileprivate func string(_ name: String) throws -> String {
        guard let text = self[name] as? String else { throw Program.Failure(description: "No \(name) in \(self)") }
        return text
    }
}
