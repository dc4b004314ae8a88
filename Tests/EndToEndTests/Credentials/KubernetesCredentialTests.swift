import Foundation
import JunctionTesting
import Testing

/// Tests of `junctionctl credential kubernetes`.
@Suite struct KubernetesCredentialTests {
    private static func request(_ version: String, server: String) -> [String: String] {
        [
            "KUBERNETES_EXEC_INFO": """
            {"apiVersion":"client.authentication.k8s.io/\(version)","kind":"ExecCredential",\
            "spec":{"cluster":{"server":"\(server)"},"interactive":false}}
            """
        ]
    }

    @Test(arguments: ["v1", "v1beta1"])
    func `the answer has the version of the request, the token and its end`(version: String) throws {
        let installation = try Installation.started()
        try installation.signInNewUser()

        let ending = try installation.ctl(
            ["credential", "kubernetes", "--host", "k.example.com:6443"],
            environment: Self.request(version, server: "https://k.example.com:6443")
        )

        let json = try ending.json()
        #expect(json["apiVersion"] as? String == "client.authentication.k8s.io/\(version)")
        let status = try #require(json["status"] as? [String: Any])
        #expect(status["token"] as? String == (try installation.token()))
        #expect((status["expirationTimestamp"] as? String)?.hasSuffix("Z") == true)
    }

    @Test func `another cluster gets no token, and no request is an error`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        let words = ["credential", "kubernetes", "--host", "k.example.com"]

        let other = try installation.client(
            "junctionctl",
            words,
            environment: Self.request("v1", server: "https://evil.example.com")
        )
        let unencrypted = try installation.client(
            "junctionctl",
            words,
            environment: Self.request("v1", server: "http://k.example.com")
        )
        let unnamed = try installation.client(
            "junctionctl",
            ["credential", "kubernetes"],
            environment: Self.request("v1", server: "https://k.example.com")
        )
        let silent = try installation.client("junctionctl", words)
        let strange = try installation.client("junctionctl", words, environment: ["KUBERNETES_EXEC_INFO": "{"])

        for ending in [other, unencrypted, unnamed] {
            #expect(ending.output == "" && ending.status == 64 && ending.errors.contains("(hostNotNamed): "))
        }
        #expect(silent.output == "" && silent.status == 64 && silent.errors.contains("provideClusterInfo"))
        #expect(strange.output == "" && strange.status == 64)
    }

    @Test(
        .enabled("python3, openssl or kubectl is not installed") {
            SystemPrograms.hasPython && TestAuthority.isAvailable && SystemPrograms.isInPath("kubectl")
        }
    )
    func `kubectl uses the guide's kubeconfig, and says when nobody is signed in`() throws {
        let installation = try Installation.started()
        let authority = try TestAuthority(in: installation.folder)
        let folder = try authority.certificate().copied(to: installation.folder.makeFolder("tls"))
        let server = try CredentialServer(.kubernetes, for: installation, folder)
        let kubeconfig = try #require(try CredentialGuide.blocks(of: "kubernetes").first)
            .replacing("kubernetes.example.com:6443", with: server.authority)
        #expect(kubeconfig.contains("client.authentication.k8s.io/v1\n"))

        for version in try Self.versions(of: installation) {
            let file = try installation.folder.write(
                kubeconfig.replacing("k8s.io/v1\n", with: "k8s.io/\(version)\n"),
                to: "kubeconfig"
            )
            let command = try CredentialGuide.use(of: "kubernetes")
            let environment = ["KUBECONFIG": file, "SSL_CERT_FILE": authority.file]

            let signedOut = try installation.shell(command, environment: environment)
            try installation.signInNewUser("alice-\(version)")
            try server.acceptPresentToken()
            let signedIn = try installation.shell(command, environment: environment)
            try installation.signOut()

            #expect(signedOut.status == 1)
            #expect(signedOut.errors.contains(signedOutMessage), "\(signedOut.errors)")
            #expect(
                signedOut.errors.contains("getting credentials: exec: executable junctionctl failed with exit code 3"),
                "\(signedOut.errors)"
            )
            #expect(signedIn.status == 0, "\(signedIn.errors)")
            #expect(signedIn.errors.contains("No resources found"))
            #expect(try server.request { $0.contains("/pods") }.hasSuffix(" allowed"))
        }
    }

    /// The versions of the protocol that this machine's kubectl speaks. Version 1 came with kubectl 1.22.
    private static func versions(of installation: Installation) throws -> [String] {
        let ending = try installation.shell("kubectl version --client -o json")
        let minor = try #require(ending.output.firstMatch(of: /"minor": *"(\d+)/), "\(ending.errors)").1
        return (Int(minor) ?? 0) < 22 ? ["v1beta1"] : ["v1beta1", "v1"]
    }
}
