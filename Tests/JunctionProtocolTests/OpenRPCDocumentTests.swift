import Foundation
import JunctionJSON
import JunctionProtocol
import Testing

struct OpenRPCDocumentTests {
    private let document: JSONValue
    private let checker: SchemaChecker

    init() throws {
        func fixture(_ name: String) throws -> JSONValue {
            let here = URL(filePath: #filePath).deletingLastPathComponent()
            return try JSONValue.parse(Array(Data(contentsOf: here.appending(path: "Fixtures/\(name)"))))
        }
        document = try JSONValue.parse(OpenRPCDocument(version: "1.2.3").json())
        checker = SchemaChecker([
            "https://meta.open-rpc.org": try fixture("openrpc-1.3-schema.json"),
            "https://meta.json-schema.tools": try fixture("json-schema-meta-schema.json"),
            "document": document,
        ])
    }

    @Test func `the document is valid OpenRPC 1.3.2`() {
        #expect(document["openrpc"]?.string == "1.3.2")
        #expect(document["info"]?["version"]?.string == "1.2.3")
        #expect(checker.complaints(about: document, against: "https://meta.open-rpc.org") == [])
    }

    @Test func `every method is described, with its capability`() {
        let described = document["methods"]?.elements.map { method in
            "\(method["name"]?.string ?? "") \(method["x-capability"]?.string ?? "none")"
        }

        #expect(
            Set(described ?? []) == [
                "session.status status", "session.subscribe status", "session.unsubscribe status",
                "session.signIn manage", "session.signOut manage", "session.identify manage",
                "session.reconcile status", "session.renew token", "token.get token", "api.request api",
                "handler.register handle", "handler.unregister handle", "daemon.info status", "daemon.metrics status",
                "daemon.diagnose manage", "daemon.reload manage",
                "session.authorizationPage manage", "access.whoami none", "rpc.discover none",
            ]
        )
        #expect(described?.count == 19)
    }

    @Test func `the daemon's own calls are described`() {
        let calls = document["x-daemonCalls"]?.elements.map { call in
            "\(call["name"]?.string ?? "") \(call["result"] == nil ? "notification" : "request")"
        }

        #expect(
            calls == [
                "session.changed notification", "session.authenticate request",
                "session.willRenewAccessToken request",
            ]
        )
    }

    @Test func `every reference has a target`() {
        let text = String(decoding: document.rawText, as: UTF8.self)
        let references = Set(text.matches(of: /"\$ref":"([^"]+)"/).map { String($0.output.1) })

        #expect(references.contains("#/components/schemas/Snapshot"))
        for reference in references {
            let steps = reference.dropFirst(2).split(separator: "/")
            let target = steps.reduce(document as JSONValue?) { $0?.member(named: String($1)) }
            #expect(target != nil, "\(reference)")
        }
    }

    @Test func `a snapshot matches its schema`() throws {
        let snapshot = Snapshot(
            revision: 1,
            changedAt: Timestamp(milliseconds: 0),
            state: .terminated,
            flags: [.configured],
            provider: "junction",
            scheme: "apiKey",
            accessToken: .init(
                issuedAt: Timestamp(milliseconds: 0),
                expiresAt: Timestamp(milliseconds: 9),
                generation: 1
            ),
            termination: Termination(code: "c", message: "m", at: Timestamp(milliseconds: 0)),
            storage: .init(sealedWith: "file", durable: false, status: .damaged)
        )

        #expect(try complaints(written(snapshot), "Snapshot") == [])
        #expect(try complaints(#"{"revision":-1}"#, "Snapshot") != [])
    }

    @Test(
        arguments: [
            .signInToken(SecretText("t")), .linkCode(SecretText("c")), .apiKey(),
            .apiKey(SecretText("k"), userId: "u", environment: "e", region: "r"), .userLogin(userId: "u"),
            .userLogin(userId: "u", displayName: "d", authToken: SecretText("a")), .registration(userId: "u"),
            .registration(userId: "u", token: SecretText("t")),
            .registrationSignature(userId: "u", signature: SecretText("s"), sequence: 1), .selfSigned(userId: "u"),
            .device, .refreshToken(SecretText("t")),
            .authorizationCode(SecretText("c"), redirectUri: "http://127.0.0.1:1/", codeVerifier: SecretText("v")),
            .tokenExchange(subjectToken: SecretText("t"), subjectTokenType: "urn:x"),
        ] as [Credential]
    )
    func `a credential matches its schema`(_ credential: Credential) throws {
        #expect(try complaints(written(credential), "Credential") == [])
    }

    @Test func `an invalid credential does not match the schema`() throws {
        #expect(try complaints(#"{"scheme":"linkCode","token":"t"}"#, "Credential") != [])
        #expect(try complaints(#"{"scheme":"signInToken","token":"t","userId":"u"}"#, "Credential") != [])
    }

    @Test func `an error matches its schema`() throws {
        let error = WireError(.permissionDenied, "m", retryAfter: 0.5, capability: "api", maximum: 1, remedy: "r")

        #expect(try complaints(written(error), "Error") == [])
        #expect(try complaints(written(WireError.methodNotFound), "Error") == [])
    }

    private func complaints(_ text: String, _ schema: String) throws -> [String] {
        checker.complaints(about: try json(text), against: "document#/components/schemas/\(schema)")
    }
}
