import Foundation

/// The stand-in for the vendor's cloud, as a separate process.
final class Sandbox {
    let origin: String
    let authority: String?
    private let process: ChildProcess
    private let output: Pipe
    /// The TLS terminator before it.
    private var front: (process: ChildProcess, output: Pipe)?
    private static let teamKey = "sk_us_bench"

    init(_ lab: Lab, certificates: Certificates? = nil) throws {
        let command = Command(
            try lab.program("junction-sandbox"),
            ["--listen", "127.0.0.1:0", "--access-token-lifetime", "3600"]
        )
        authority = certificates?.authority
        output = try Pipe()
        process = try ChildProcess(command, output: output.input, errors: output.input)
        output.closeInput()
        let plain = String(try output.readLine(containing: "listening on").split(separator: " ").last!)
        guard let certificates else {
            origin = plain
            return
        }
        let pipe = try Pipe()
        let tls = Command(
            Lab.projectRoot + "Tests/tls-front",
            [certificates.chain, certificates.key, String(plain.split(separator: ":").last!)]
        )
        front = (try ChildProcess(tls, output: pipe.input, errors: pipe.input), pipe)
        pipe.closeInput()
        origin = "https://127.0.0.1:" + (try pipe.readLine(containing: ""))
    }

    /// Creates a user, as a customer's backend does.
    func createUser() throws -> String {
        let user = try call("POST", "/v2/user", #"{"client_user_id":"\#(UUID().uuidString)"}"#)
        return try user.text("user_id")
    }

    /// Creates a Sign-In Token for one sign-in, as a customer's backend does.
    func signInToken(for user: String) throws -> String {
        try call("POST", "/v2/user/\(user)/sign_in_token").text("sign_in_token")
    }

    /// Makes token requests hang until `recover`.
    func hang() throws {
        _ = try call("POST", "/sandbox/faults", #"{"match":"/v1/token","hang":true}"#)
    }

    func recover() throws {
        _ = try call("DELETE", "/sandbox/faults")
        _ = try call("POST", "/sandbox/release")
    }

    private func call(_ method: String, _ path: String, _ body: String? = nil) throws -> Document {
        var arguments = ["-fsS", "--max-time", "20", "-X", method, "-H", "x-vital-api-key: \(Self.teamKey)"]
        if let authority { arguments += ["--cacert", authority] }
        if let body { arguments += ["-H", "content-type: application/json", "-d", body] }
        return try Document(try Command(named: "curl", arguments + [origin + path]).run())
    }
}

/// A JSON object of an answer.
struct Document {
    let members: [String: Any]

    init(_ text: String) throws {
        guard let members = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw Trouble("expected a JSON object, got: \(text)")
        }
        self.members = members
    }

    func text(_ name: String) throws -> String {
        guard let text = members[name] as? String else { throw Trouble("expected '\(name)' in \(members)") }
        return text
    }
}
