import Foundation
import JunctionTesting

/// The sandbox of one test, with functions that drive it.
final class Cloud {
    static let teamKey = "sk_us_endtoend"

    /// The URL for the daemon.
    private(set) var url = ""
    /// The URL for the test, which bypasses the TLS proxy.
    private var place = ""
    private let folder: TemporaryFolder
    private let arguments: [String]
    private let http: CloudHTTP
    private let tls: TestAuthority?
    private var sandbox: RunningProgram?
    private var front: TLSFront?
    /// The users that were created here.
    private var users: [String] = []

    /// - Parameter tls: The authority that signs the certificate of the TLS proxy. Without it, there is no proxy.
    init(in folder: TemporaryFolder, accessTokenLifetime: Int, rotationGrace: Int, tls: TestAuthority?) throws {
        self.folder = folder
        http = CloudHTTP()
        self.tls = tls
        arguments = [
            "--access-token-lifetime", "\(accessTokenLifetime)", "--rotation-grace", "\(rotationGrace)",
            "--state", folder.path + "/cloud.json",
        ]
        try startSomewhere()
    }

    // MARK: Running

    /// Tries several ports, because another program may use one.
    private func startSomewhere() throws {
        for _ in 1..<20 {
            do {
                return try startOnce()
            } catch let failure as TestFailure where failure.description.contains("cannot listen on") {
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
        let sandbox = try RunningProgram(
            "junction-sandbox",
            ["--listen", "127.0.0.1:\(port)"] + arguments + (front.map { ["--origin", $0.origin] } ?? []),
            in: folder
        )
        guard let url = try sandbox.lines.next()?.split(separator: " ").last else {
            throw TestFailure(description: "The sandbox did not start: \(sandbox.program.errors)")
        }
        self.sandbox = sandbox
        self.url = String(url)
    }

    /// Kills the sandbox, which for the daemon is a network failure.
    func stop() throws {
        sandbox?.program.signal(SIGKILL)
        try sandbox?.program.wait()
        sandbox = nil
    }

    /// Restarts the sandbox at the same address with its state.
    func restart() throws {
        try stop()
        try start(port: place.split(separator: ":").last.flatMap { Int($0) } ?? 0)
    }

    // MARK: The backend

    private func send(_ method: String, _ path: String, _ body: Object? = nil, headers: [String] = []) throws -> Object
    {
        let (status, answer) = try http.send(method, place, path, body, headers: headers)
        guard status < 400 else { throw TestFailure(description: "\(method) \(path): \(status) \(answer)") }
        return answer
    }

    /// Creates a user as a backend does.
    func makeUser(_ name: String = "alice") throws -> String {
        let key = ["x-vital-api-key: \(Self.teamKey)"]
        let user = try send("POST", "/v2/user", ["client_user_id": name], headers: key).string("user_id")
        users.append(user)
        return user
    }

    /// Returns the owner of an access token among the users that were created here, or `nil` if the token is invalid. A
    /// token gives access to its own user's path only.
    func owner(of accessToken: String?) throws -> String? {
        guard let accessToken else { return nil }
        let bearer = ["authorization: Bearer \(accessToken)"]
        return try users.first { user in
            try http.send("GET", place, "/v2/user/\(user)", nil, headers: bearer).status == 200
        }
    }

    /// Returns a Sign-In Token as a backend gets one, or one with the deviations of `docs/sandbox.md`.
    func signInToken(for user: String, _ options: Object = [:]) throws -> String {
        try send("POST", "/sandbox/users/\(user)/sign-in-token", options).string("signInToken")
    }

    /// Returns the JWT inside a Sign-In Token.
    static func jwt(of token: String) throws -> String {
        guard let envelope = Data(base64Encoded: token),
            let object = try JSONSerialization.jsonObject(with: envelope) as? Object,
            let jwt = object["user_token"] as? String
        else { throw TestFailure(description: "Not a Sign-In Token") }
        return jwt
    }

    func credential(for user: String) throws -> Object {
        ["scheme": "signInToken", "token": try signInToken(for: user)]
    }

    func linkCode(for user: String) throws -> String {
        try send("POST", "/sandbox/users/\(user)/link-code", [:]).string("code")
    }

    /// Posts a form as a browser does, and returns the status and the redirect.
    func post(_ path: String, _ form: [String: String]) throws -> (status: Int, redirect: String?) {
        try http.post(form: form, place, path)
    }

    // MARK: Driving

    /// Sends an event for a user, such as `delete` or `expire-access-tokens`.
    func drive(_ verb: String, _ user: String) throws {
        _ = try send("POST", "/sandbox/users/\(user)/\(verb)")
    }

    /// Sends a request to a `/sandbox` endpoint.
    @discardableResult
    func sandbox(_ method: String, _ path: String, _ body: Object? = nil) throws -> Object {
        try send(method, "/sandbox/" + path, body)
    }

    func change(_ settings: Object) throws {
        _ = try send("POST", "/sandbox/settings", settings)
    }

    /// Adds a fault (see `docs/sandbox.md`). Without `match`, it applies to renewals.
    func fault(_ fault: Object) throws {
        let renewals: Object = ["match": "/v1/token", "grant": "refresh_token"]
        _ = try send("POST", "/sandbox/faults", fault["match"] == nil ? fault.merging(renewals) { $1 } : fault)
    }

    func clearFaults() throws {
        _ = try send("DELETE", "/sandbox/faults")
    }

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
        guard let text = self[name] as? String else { throw TestFailure(description: "No \(name) in \(self)") }
        return text
    }
}
