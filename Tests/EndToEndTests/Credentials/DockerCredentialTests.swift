import Foundation
import JunctionTesting
import Testing

/// Tests of `docker-credential-junction`, alone and with the clients that this machine has.
@Suite struct DockerCredentialTests {
    private let installation: Installation
    private let helper = "docker-credential-junction"

    init() throws {
        installation = try Installation.started()
        try installation.folder.makeFolder(".docker")
    }

    /// Writes the guide's `config.json`, for another registry.
    private func configure(for registry: String = "registry.example.com") throws {
        let text = try #require(try CredentialGuide.blocks(of: "docker").first)
        try installation.folder.write(text.replacing("registry.example.com", with: registry), to: ".docker/config.json")
    }

    private func run(_ request: String, _ input: String = "") throws -> Program.Ending {
        try installation.shell("exec \(helper) \(request)", input: input)
    }

    @Test func `get prints the token for a registry of docker's config.json`() throws {
        try configure()
        try installation.signInNewUser()

        let ending = try run("get", "registry.example.com\n")

        let token = try #require(try installation.token())
        #expect(
            ending.output == #"{"ServerURL":"registry.example.com","Username":"oauth2","Secret":"\#(token)"}"# + "\n"
        )
        #expect((ending.errors, ending.status) == ("", 0))
        #expect(try run("list").output == #"{"https://registry.example.com":"oauth2"}"# + "\n")
    }

    @Test(arguments: ["https://registry.example.com", "registry.example.com", "https://registry.example.com/v2/"])
    func `a registry may be a URL`(server: String) throws {
        try configure()
        try installation.signInNewUser()

        #expect(try run("get", server).json()["ServerURL"] as? String == server)
    }

    @Test func `another registry is not found, and nobody signed in neither`() throws {
        try configure()

        let signedOut = try run("get", "registry.example.com")
        try installation.signInNewUser()
        let other = try run("get", "https://index.docker.io/v1/")

        for ending in [signedOut, other] {
            #expect(ending.output == "credentials not found in native keychain\n")
            #expect((ending.errors, ending.status) == ("", 1))
        }
    }

    @Test(arguments: ["", "get --wrong", "shout", "get extra"])
    func `a wrong command line is reported on standard output, with docker's exit code`(words: String) throws {
        let ending = try run(words)

        #expect(ending.output.contains("(usage): "))
        #expect((ending.errors, ending.status) == ("", 1))
    }

    @Test(arguments: ["", "\n"])
    func `a request without a server gets docker's words`(input: String) throws {
        let ending = try run("get", input)

        #expect(ending.output == "no credentials server URL\n")
        #expect((ending.errors, ending.status) == ("", 1))
    }

    @Test func `without credHelpers the hosts file counts`() throws {
        try installation.folder.write(#"{"credsStore":"junction"}"#, to: ".docker/config.json")
        try installation.folder.makeFolder(".config/junctiond")
        try installation.folder.write("# registries\n*.example.org\n", to: ".config/junctiond/hosts")
        try installation.signInNewUser()

        #expect(try run("get", "registry.example.org").status == 0)
        #expect(try run("get", "registry.example.com").status == 1)
    }

    @Test func `DOCKER_CONFIG and XDG_CONFIG_HOME name the folders of the files`() throws {
        let path = installation.folder.path
        try installation.folder.makeFolder("docker")
        try installation.folder.makeFolder("xdg/junctiond")
        try installation.folder.write(#"{"credHelpers":{"a.example.org":"junction"}}"#, to: "docker/config.json")
        try installation.folder.write("b.example.org\n", to: "xdg/junctiond/hosts")
        try installation.signInNewUser()
        func status(_ variable: String, _ registry: String) throws -> Int32 {
            try installation.shell("export \(variable); exec \(helper) get", input: registry).status
        }

        #expect(try status("DOCKER_CONFIG=\(path)/docker", "a.example.org") == 0)
        #expect(try status("DOCKER_CONFIG=\(path)/docker", "b.example.org") == 1)
        #expect(try status("XDG_CONFIG_HOME=\(path)/xdg", "b.example.org") == 0)
        #expect(try status("XDG_CONFIG_HOME=\(path)/xdg", "a.example.org") == 1)
    }

    @Test func `with no file no registry gets the token`() throws {
        try installation.signInNewUser()

        #expect(try run("get", "registry.example.com").output == "credentials not found in native keychain\n")
    }

    @Test func `store and erase change nothing`() throws {
        try configure()
        let user = try installation.signInNewUser()

        #expect(try run("store", #"{"ServerURL":"x","Username":"y","Secret":"z"}"#).status == 0)
        #expect(try run("erase", "registry.example.com").status == 0)

        #expect(try installation.status().userId == user)
    }

    @Test func `a failure is on standard output, as docker reads it`() throws {
        try configure()
        try installation.stopDaemon()

        let ending = try run("get", "registry.example.com")

        #expect(ending.status == 1)
        #expect(ending.output.contains("(daemonUnreachable): "))
    }

    @Test func `the guide's script gives another user name`() throws {
        try installation.signInNewUser()
        let script = try CredentialGuide.blocks(of: "docker")[1]
        // Run by `sh`, as Bazel's helper is.
        let path = try installation.folder.write(script, to: "docker-credential-azure")

        let ending = try installation.shell("exec sh \(path) get", input: "registry.example.com")

        #expect(try ending.json()["Username"] as? String == "00000000-0000-0000-0000-000000000000")
    }

    /// The clients, how each reads a manifest without checking the certificate, and what each says without a credential.
    /// Skopeo shares podman's library.
    private static let clients = [
        (
            name: "docker", command: "docker manifest inspect --insecure REGISTRY/app:1",
            refused: "no basic auth credentials"
        ),
        (
            name: "skopeo", command: "skopeo inspect --tls-verify=false docker://REGISTRY/app:1",
            refused: "unauthorized: authentication required"
        ),
    ].filter { SystemPrograms.isInPath($0.name) }

    @Test(
        .enabled("docker and skopeo, python3 or openssl are not installed") {
            !clients.isEmpty && SystemPrograms.hasPython && TestAuthority.isAvailable
        }
    )
    func `docker and skopeo read a manifest with the token, and say when nobody is signed in`() throws {
        let folder = try TestAuthority().certificate().copied(to: installation.folder.makeFolder("tls"))
        for (name, command, refused) in Self.clients {
            let server = try CredentialServer(.registry, for: installation, folder)
            try configure(for: server.authority)
            let read = command.replacing("REGISTRY", with: server.authority)

            let signedOut = try installation.shell(read)
            try installation.signInNewUser("alice-\(name)")
            try server.acceptPresentToken()
            let signedIn = try installation.shell(read)
            try installation.signOut()

            #expect(signedOut.status == 1, "\(name)")
            #expect(signedOut.errors.contains(refused), "\(name): \(signedOut.errors)")
            try #require(signedIn.status == 0, "\(name): \(signedIn.errors)")
            #expect(try server.request { $0.contains("/manifests/1 allowed") }.hasSuffix(" oauth2"), "\(name)")
        }
    }
}
