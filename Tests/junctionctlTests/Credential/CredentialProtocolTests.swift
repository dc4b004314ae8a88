import ArgumentParser
import JunctionClient
import JunctionJSON
import JunctionProtocol
import Testing

@testable import junctionctl

/// The requests and answers of the credential protocols, with the examples of their documents.
struct CredentialProtocolTests {
    private func token(_ text: String = "TOK") throws -> AccessToken {
        let end = try #require(Timestamp("2026-11-26T10:00:00Z"))
        return AccessToken(accessToken: SecretText(text), expiresAt: end, userId: "alice")
    }

    private func json(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    // MARK: git

    private func gitRequest(_ text: String) -> GitCredential.Request {
        Array(text.utf8).withUnsafeBytes(GitCredential.request)
    }

    @Test func `git's request has a server, and for erase the refused password`() {
        // git-credential(1), "Typical use of git credential".
        #expect(
            gitRequest("protocol=https\nhost=example.com\npath=foo.git\n\n")
                == GitCredential.Request(destination: Destination(url: "https://example.com"))
        )
        #expect(
            gitRequest("protocol=https\nhost=example.com:8443\nusername=bob\npassword=secr=3t\n")
                == GitCredential.Request(
                    destination: Destination(url: "https://example.com:8443"),
                    username: "bob",
                    password: SecretText("secr=3t")
                )
        )
    }

    @Test(arguments: [
        "", "\n", "protocol=https", "host=example.com", "protocol=cert\nhost=\npath=/key.pem\n",
        "protocol=http\nhost=example.com",
        "protocol=smtp\nhost=example.com:587", "\nprotocol=https\nhost=example.com", "=\n=x\nprotocol",
        "protocol=https\nhost=a@b",
    ])
    func `git's request without a protected server names none`(text: String) {
        #expect(gitRequest(text).destination == nil)
    }

    @Test func `git's request may have unknown keys and bytes that are no UTF-8`() {
        let bytes =
            Array("capability[]=authtype\nwwwauth[]=Basic realm=\"x\"\nstate[]=\u{FF}\nprotocol=https\nhost=h\n".utf8)
            + [0xFF]

        #expect(bytes.withUnsafeBytes(GitCredential.request).destination == Destination(url: "https://h"))
    }

    @Test func `git's answer is a user name, the token and its end`() throws {
        let answer = GitCredential.answer(try token(), username: "oauth2").revealed()

        #expect(answer == "username=oauth2\npassword=TOK\npassword_expiry_utc=1795687200\n")
    }

    @Test(arguments: [
        ("TOK", 10_000, true), ("TOK", 3_600_000, true), (nil, 10_000, false), ("TOK", -1, true),
        ("TOK", 9_999, false), ("TOK", 0, false), ("OLD", 3_600_000, false), ("", 3_600_000, false),
    ])
    func `a refused token is renewed if it is the present one and ten seconds old`(
        refused: String?,
        age: Int64,
        isRenewed: Bool
    ) {
        let decision = GitCredential.shouldRenew(
            SecretText("TOK"),
            issuedAt: Timestamp(milliseconds: 1_000_000),
            refused: refused.map { SecretText($0) },
            now: Timestamp(milliseconds: 1_000_000 + age)
        )

        #expect(decision == isRenewed)
    }

    @Test func `a token without a time is not renewed, and no time traps`() {
        func isRenewed(_ issuedAt: Timestamp?) -> Bool {
            GitCredential.shouldRenew(
                SecretText("T"),
                issuedAt: issuedAt,
                refused: SecretText("T"),
                now: Timestamp(milliseconds: .max)
            )
        }

        #expect(!isRenewed(nil))
        #expect(isRenewed(Timestamp(milliseconds: .min)))
    }

    // MARK: docker

    @Test func `docker's answer is an object of three members`() throws {
        let answer = DockerCredential.answer(try token(), server: "https://index.docker.io/v1/", username: "david")

        // The README of docker-credential-helpers has these members.
        #expect(
            answer.revealed() == #"{"ServerURL":"https://index.docker.io/v1/","Username":"david","Secret":"TOK"}"#
        )
    }

    @Test func `docker's list has the hosts with the user name, without wildcards`() throws {
        let hosts = ["registry.example.com", "*.example.org", "127.0.0.1:5000"].compactMap { HostPattern($0) }

        let list = DockerCredential.list(hosts, username: "oauth2").revealed()

        #expect(list == #"{"https://registry.example.com":"oauth2","https://127.0.0.1:5000":"oauth2"}"#)
        #expect(DockerCredential.list([], username: "x").revealed() == "{}")
    }

    @Test func `docker's config.json gives registries to junction, and others to other helpers`() throws {
        let configuration = try json(
            #"{"auths":{},"credHelpers":{"registry.example.com":"junction","gcr.io":"gcloud","bad host":"junction","x":1}}"#
        )
        let urls = try json(
            #"{"credHelpers":{"https://index.docker.io/v1/":"junction","http://r.example.com":"junction","*.b.example":"junction"}}"#
        )

        #expect(DockerCredential.hosts(inDockersOwn: configuration) == [HostPattern("registry.example.com")])
        #expect(DockerCredential.hosts(inDockersOwn: urls) == [HostPattern("index.docker.io")])
        for other in [#"{}"#, #"{"credHelpers":7}"#, #"[]"#, #"{"credsStore":"junction"}"#] {
            #expect(DockerCredential.hosts(inDockersOwn: try json(other)) == [])
        }
    }

    @Test func `the hosts file has a host a line`() {
        let hosts = DockerCredential.hosts(
            inLines: "# mine\nregistry.example.com\n\n  *.example.org  \r\n127.0.0.1:5000"
        )

        #expect(hosts == ["registry.example.com", "*.example.org", "127.0.0.1:5000"].compactMap { HostPattern($0) })
        #expect(DockerCredential.hosts(inLines: "") == [])
        #expect(DockerCredential.hosts(inLines: "https://registry.example.com") == nil)
        #expect(DockerCredential.hosts(inLines: "a.example b.example") == nil)
    }

    @Test(arguments: [("registry.example.com\r\n", "registry.example.com"), (" a b ", "a b"), ("\n", nil), ("", nil)])
    func `docker's request is a server, without the white space around it`(input: String, server: String?) {
        #expect(DockerCredential.server(input) == server)
    }

    // MARK: kubernetes

    @Test(arguments: ["v1", "v1beta1"])
    func `the answer to Kubernetes has the version of the request`(version: String) throws {
        // The example of "client-go credential plugins".
        let request = KubernetesCredential.request(
            """
            {"apiVersion":"client.authentication.k8s.io/\(version)","kind":"ExecCredential","spec":{"cluster":\
            {"server":"https://172.17.4.100:6443","certificate-authority-data":"LS0t"},"interactive":true}}
            """
        )

        #expect(request?.server == "https://172.17.4.100:6443")
        let answer = KubernetesCredential.answer(try token(), try #require(request)).revealed()
        #expect(
            answer == """
                {"apiVersion":"client.authentication.k8s.io/\(version)","kind":"ExecCredential","status":\
                {"expirationTimestamp":"2026-11-26T10:00:00Z","token":"TOK"}}
                """
        )
    }

    @Test func `a request without a cluster has no server, and no request is one of version v1`() {
        let bare = #"{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{}}"#

        #expect(KubernetesCredential.request(bare)?.server == nil)
        let strange = bare.replacing("{}", with: #"{"cluster":{"server":7}}"#)
        #expect(KubernetesCredential.request(strange)?.server == "")
        #expect(KubernetesCredential.request(nil)?.version == "client.authentication.k8s.io/v1")
        #expect(KubernetesCredential.request("")?.version == "client.authentication.k8s.io/v1")
    }

    @Test(arguments: [
        "{", "[]", "null", #"{"kind":"ExecCredential"}"#, #"{"apiVersion":"client.authentication.k8s.io/v1"}"#,
        #"{"apiVersion":"client.authentication.k8s.io/v1alpha1","kind":"ExecCredential"}"#,
        #"{"apiVersion":1,"kind":"ExecCredential"}"#, #"{"apiVersion":"v1","kind":"Pod"}"#,
    ])
    func `another request of Kubernetes is refused`(text: String) {
        #expect(KubernetesCredential.request(text) == nil)
    }

    // MARK: headers, go, bazel

    @Test func `headers are a JSON object`() throws {
        #expect(HeadersCredential.answer(try token()).revealed() == #"{"Authorization":"Bearer TOK"}"#)
    }

    @Test func `Go gets URL prefixes, a header and two empty lines`() throws {
        let answer = GoCredential.answer(try token(), for: ["example.com", "example.net:8443"]).revealed()

        // The form of `go help goauth`.
        #expect(answer == "https://example.com\nhttps://example.net:8443\n\nAuthorization: Bearer TOK\n\n")
        #expect(GoCredential.answer(try token(), for: []).revealed() == "")
    }

    @Test(arguments: [
        ("https://go.example.com/mod/@v/list", "go.example.com"), ("https://GO.example.com", "go.example.com"),
        ("https://proxy.example.com:8443/x", "proxy.example.com:8443"), ("https://other.example.net/", nil),
        ("http://127.0.0.1:80/", nil), ("go.example.com", nil), ("", nil),
    ])
    func `Go's question about a URL is answered for its server only`(url: String, authority: String?) {
        let hosts = ["*.example.com", "proxy.example.com:8443", "127.0.0.1:80"].compactMap { HostPattern($0) }

        #expect(GoCredential.authority(of: url, in: hosts) == authority)
    }

    @Test func `Bazel gets headers and their end`() throws {
        // The example of the credential-helper-spec.
        let uri = Array(#"{"uri":"https://example.com/path"}"#.utf8).withUnsafeBytes(BazelCredential.uri)

        #expect(uri == "https://example.com/path")
        #expect(
            BazelCredential.answer(try token()).revealed()
                == #"{"headers":{"Authorization":["Bearer TOK"]},"expires":"2026-11-26T10:00:00Z"}"#
        )
        #expect(BazelCredential.answer(nil).revealed() == #"{"headers":{}}"#)
    }

    @Test(arguments: ["", "{}", "[]", #"{"uri":7}"#, "https://example.com"])
    func `another request of Bazel is refused`(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes(BazelCredential.uri) == nil)
    }

    // MARK: mail

    @Test func `XOAUTH2 is the example of its document`() throws {
        // Google's "The SASL XOAUTH2 Mechanism".
        let answer = MailCredential.xoauth2(
            try token("ya29.vF9dft4qmTc2Nvb3RlckBhdHRhdmlzdGEuY29tCg"),
            user: "someuser@example.com"
        )

        #expect(
            answer.revealed() == """
                dXNlcj1zb21ldXNlckBleGFtcGxlLmNvbQFhdXRoPUJlYXJlciB5YTI5LnZGOWRmdDRxbVRjMk52YjNSbGNrQmhkSFJo\
                ZG1semRHRXVZMjl0Q2cBAQ==
                """
        )
    }

    @Test func `OAUTHBEARER is the example of RFC 7628`() throws {
        let answer = MailCredential.oauthbearer(
            try token("vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg=="),
            user: "user@example.com",
            host: HostPattern("server.example.com:143")
        )

        #expect(
            answer.revealed() == """
                bixhPXVzZXJAZXhhbXBsZS5jb20sAWhvc3Q9c2VydmVyLmV4YW1wbGUuY29tAXBvcnQ9MTQzAWF1dGg9QmVhcmVyIHZG\
                OWRmdDRxbVRjMk52YjNSbGNrQmhiSFJoZG1semRHRXVZMjl0Q2c9PQEB
                """
        )
    }

    @Test func `OAUTHBEARER escapes the name, and needs no host`() throws {
        let answer = MailCredential.oauthbearer(try token(), user: "a,b=c", host: nil)

        // n,a=a=2Cb=3Dc,^Aauth=Bearer TOK^A^A
        #expect(answer.revealed() == "bixhPWE9MkNiPTNEYywBYXV0aD1CZWFyZXIgVE9LAQE=")
    }

    // MARK: The command line

    @Test(arguments: [
        ["git", "get"], ["git", "--host", "h"], ["git", "get", "--host", "https://h"], ["go"], ["bazel", "get"],
        ["kubernetes", "get"], ["headers", "x"], ["docker"], ["xoauth2"], ["xoauth2", "--user", ""],
        ["xoauth2", "--user", "a\u{1}b"], ["xoauth2", "--user", "a\u{7F}b"],
        ["git", "get", "--host", "h", "--username", "a\u{85}b"], ["git", "get", "--host", "h", "--username", "a b"],
        ["git", "get", "--host", "h", "--user", "x"],
        ["headers", "--username", "x"], ["headers", "--oauthbearer"],
        ["git", "get", "--host", "h", "--username", "a\nb"],
        ["netrc"], [],
    ])
    func `a command line that a protocol does not have is refused`(words: [String]) {
        #expect(throws: (any Error).self) { try CredentialCommand.parse(words) }
    }
}
