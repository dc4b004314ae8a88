import ArgumentParser
import Glibc
import JunctionClient
import JunctionJSON
import JunctionProtocol

/// Speaks the protocols of programs that ask a command for a credential.
struct CredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Gives the token to a program that asks a command for a credential.",
        discussion: """
            If the program names the server, the token is given only for hosts that --host names. Without a port, that \
            is the protocol's own port; *.example.com stands for hosts with one label more, as in a certificate. No token \
            is given for a URL of plain HTTP, except of this machine, or (except for docker) without a scheme. \
            Another host gets no credential, which is not an error, except for kubernetes and headers. For docker, the \
            hosts are the registries that docker's config.json gives to "junction" under credHelpers, else the lines of \
            $XDG_CONFIG_HOME/junctiond/hosts.
            Ends with exit code 3 when nobody is signed in (docker: 1).
            """
    )

    @Argument(help: "The protocol.")
    var type: Kind

    @Argument(
        help: ArgumentHelp("What the program appends: get, store or erase, or a URL.", valueName: "request")
    )
    var request: String?

    @Option(
        help: ArgumentHelp("A host that may get the token; repeatable.", valueName: "host[:port]")
    )
    var host: [String] = []

    @Option(
        help: ArgumentHelp(
            "The user name beside the token (git, docker).",
            discussion: "By default the one that git names, else oauth2.",
            valueName: "name"
        )
    )
    var username: String?

    @Option(help: ArgumentHelp("The mail account (xoauth2).", valueName: "address"))
    var user: String?

    @Flag(help: "Use SASL OAUTHBEARER instead of XOAUTH2 (xoauth2).")
    var oauthbearer = false

    @OptionGroup var options: GlobalOptions

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case git, docker, kubernetes, headers, go, bazel, xoauth2

        /// The requests that the program may append, if it has to append one.
        fileprivate var requests: [String]? {
            switch self {
            case .git: ["get", "store", "erase"]
            case .docker: ["get", "store", "erase", "list"]
            case .bazel: ["get"]
            case .kubernetes, .headers, .go, .xoauth2: nil
            }
        }

        /// Whether the program names the host that gets the token.
        fileprivate var needsHost: Bool { [.git, .go, .bazel].contains(self) }
    }

    private var hosts: [HostPattern] { host.compactMap { HostPattern($0) } }

    func validate() throws {
        if let requests = type.requests {
            guard request != nil else {
                throw ValidationError("the program appends its request: \(requests.joined(separator: ", "))")
            }
        } else if type != .go, request != nil {
            throw ValidationError("\(type.rawValue) has no request")
        }
        guard !type.needsHost || !host.isEmpty else {
            throw ValidationError("\(type.rawValue) needs --host: it names the hosts that may get the token")
        }
        guard hosts.count == host.count else {
            throw ValidationError("--host takes HOST, HOST:PORT or *.DOMAIN, without a scheme and a path")
        }
        guard username == nil || [.git, .docker].contains(type) else {
            throw ValidationError("--username is for git and docker")
        }
        guard type == .xoauth2 ? user != nil : user == nil && !oauthbearer else {
            throw ValidationError("--user and --oauthbearer are for xoauth2, which needs --user")
        }
        for name in [user, username].compactMap(\.self) where !Self.isUserName(name) {
            throw ValidationError("a user name has no space and no control character")
        }
    }

    private static func isUserName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { $0 != " " && $0.properties.generalCategory != .control }
    }

    func run() throws {
        switch type {
        case .git: try git()
        case .docker: try docker()
        case .kubernetes: try kubernetes()
        case .headers: try headers()
        case .go: try go()
        case .bazel: try bazel()
        case .xoauth2: try xoauth2()
        }
    }

    private func token() throws -> AccessToken {
        try options.ask(TokenGet.self, TokenGet.Params()).value
    }

    private func input() throws -> SecretText {
        try SecretText(readingAll: "request of the program", from: STDIN_FILENO)
    }

    /// The user name beside the token: that of the command line, otherwise that of the program. Many servers accept any.
    private func name(_ ofProgram: String? = nil) -> String { username ?? ofProgram ?? "oauth2" }
}

// One function a protocol: it reads, asks the daemon, and prints.
extension CredentialCommand {
    private func git() throws {
        // A later git may have other requests, and `store` has no effect: the daemon keeps the session.
        guard request == "get" || request == "erase" else { return }
        let asked = try input().withUnsafeBytes(GitCredential.request)
        guard hosts.allow(asked.destination) else { return }
        if request == "erase" { return try renew(refused: asked.password) }
        try print(GitCredential.answer(try token(), username: name(asked.username)))
    }

    /// Renews the token that a server has refused, so that the next `get` has a new one.
    private func renew(refused: SecretText?) throws {
        let present = try token()
        let status = try options.ask(SessionStatus.self, NoParams()).value
        guard
            GitCredential.shouldRenew(
                present.accessToken,
                issuedAt: status.accessToken?.issuedAt,
                refused: refused,
                now: .now
            )
        else { return }
        _ = try options.ask(SessionRenew.self, NoParams())
    }

    /// Docker reads standard output also after a failure, and knows no other exit code.
    private func docker() throws {
        do {
            switch request {
            case "get":
                guard let server = DockerCredential.server(try input().revealed()) else {
                    throw DockerCredential.Refusal.noServer
                }
                guard try dockerHosts().allow(Destination(registry: server)) else {
                    throw DockerCredential.Refusal.absence
                }
                try print(DockerCredential.answer(try token(), server: server, username: name()), "\n")
            case "list":
                try print(DockerCredential.list(try dockerHosts(), username: name()), "\n")
            // The daemon keeps the session: a log-in and a log-out of docker's change nothing.
            case "store", "erase": break
            default: throw CommandFailure(usage: "docker's requests are get, store, erase and list")
            }
        } catch {
            let text =
                switch error {
                case let refusal as DockerCredential.Refusal: refusal.rawValue
                case let error as JunctionError where error.kind == .notSignedIn:
                    DockerCredential.Refusal.absence.rawValue
                case let error as JunctionError: CommandFailure(error).line
                case let failure as CommandFailure: failure.line
                default: "\(error)"
                }
            try StandardOutput.line(text)
            throw ExitCode(ExitStatus.refused.rawValue)
        }
    }

    private func dockerHosts() throws -> [HostPattern] {
        guard host.isEmpty else { return hosts }
        if let path = folder("DOCKER_CONFIG", orInHome: ".docker").map({ $0 + "/config.json" }),
            let text = try text(of: path, named: "docker's config.json")
        {
            let json = try? text.withUnsafeBytes { try JSONValue.parse($0) }
            guard let json else { throw CommandFailure(hostsOf: "docker's config.json", "it is no JSON") }
            let hosts = DockerCredential.hosts(inDockersOwn: json)
            if !hosts.isEmpty { return hosts }
        }
        let name = "junctiond/hosts"
        guard let path = folder("XDG_CONFIG_HOME", orInHome: ".config").map({ $0 + "/\(name)" }),
            let text = try text(of: path, named: name)
        else { return [] }
        guard let hosts = DockerCredential.hosts(inLines: text.revealed()) else {
            throw CommandFailure(hostsOf: name, "a line is not HOST, HOST:PORT or *.DOMAIN")
        }
        return hosts
    }

    private func kubernetes() throws {
        guard let asked = KubernetesCredential.request(variable(KubernetesCredential.variable)) else {
            throw CommandFailure(
                usage: "$\(KubernetesCredential.variable) is no ExecCredential of version v1 or v1beta1"
            )
        }
        try requireHost(asked.server, "the kubeconfig has no 'provideClusterInfo: true'")
        try print(KubernetesCredential.answer(try token(), asked), "\n")
    }

    private func headers() throws {
        try requireHost(variable(HeadersCredential.variable), "$\(HeadersCredential.variable) is not set")
        try print(HeadersCredential.answer(try token()), "\n")
    }

    /// Requires that `--host` names the server. If the program names none, `--host` must be absent, too.
    private func requireHost(_ url: String?, _ absence: String) throws {
        guard let url else {
            guard host.isEmpty else {
                throw CommandFailure(usage: "with --host, the program must name its server: \(absence)")
            }
            return
        }
        guard hosts.allow(Destination(url: url)) else {
            throw CommandFailure(
                "no --host names the server that asks for the token",
                kind: "hostNotNamed",
                remedy: "if the server may have the token, add it with --host; its URL must begin with https://",
                status: .usage
            )
        }
    }

    /// Go asks for all credentials at first, and about one URL after that URL was refused.
    private func go() throws {
        let authorities: [String]
        if let request {
            authorities = GoCredential.authority(of: request, in: hosts).map { [$0] } ?? []
        } else {
            authorities = hosts.compactMap(\.authority)
        }
        guard !authorities.isEmpty else { return }
        try print(GoCredential.answer(try token(), for: authorities))
    }

    private func bazel() throws {
        guard request == "get" else { throw CommandFailure(usage: "Bazel's request is get") }
        guard let uri = try input().withUnsafeBytes(BazelCredential.uri) else {
            throw CommandFailure(usage: "the request on standard input is no JSON object with a uri")
        }
        try print(BazelCredential.answer(hosts.allow(Destination(url: uri)) ? try token() : nil), "\n")
    }

    private func xoauth2() throws {
        guard let user else { return }
        let token = try token()
        try print(
            oauthbearer
                ? MailCredential.oauthbearer(token, user: user, host: hosts.first)
                : MailCredential.xoauth2(token, user: user),
            "\n"
        )
    }

    private func print(_ answer: SecretText, _ end: String = "") throws {
        try answer.withUnsafeBytes(StandardOutput.write)
        try StandardOutput.text(end)
    }
}

// The environment and the files that name docker's registries.
extension CredentialCommand {
    private func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private func folder(_ name: String, orInHome folder: String) -> String? {
        if let path = variable(name), !path.isEmpty { return path }
        return variable("HOME").map { "\($0)/\(folder)" }
    }

    /// Returns the content of a file; nil if it does not exist or is empty. Docker's file may contain passwords.
    private func text(of path: String, named name: String) throws -> SecretText? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw CommandFailure(hostsOf: name, String(cString: strerror(errno)))
        }
        defer { close(file) }
        do {
            return try SecretText(readingSecret: name, from: file, atMost: 1 << 20)
        } catch let failure as CommandFailure where failure.isAboutAbsence {
            return nil
        }
    }
}

extension CommandFailure {
    fileprivate init(hostsOf file: String, _ why: String) {
        self.init(
            "the hosts cannot be read from \(file): \(why)",
            kind: "hostsUnreadable",
            remedy: "correct that file",
            status: .configuration
        )
    }
}
