import JunctionProtocol
import Testing

/// The words on which apps and scripts depend, independent of the names in the code.
struct PublishedWordTests {
    @Test(
        arguments: [
            (1001, "alreadySignedIn"), (1002, "invalidCredential"), (1003, "notSignedIn"),
            (1004, "reauthenticationRequired"), (1005, "sessionTerminated"), (1006, "providerUnavailable"),
            (1007, "permissionDenied"), (1008, "incompatibleCredential"), (1009, "storageUnavailable"),
            (1010, "tokenExpired"), (1011, "busy"), (1012, "unsupported"), (1013, "misconfigured"),
            (-32700, nil), (-32600, nil), (-32601, nil), (-32602, nil), (-32603, nil),
        ] as [(Int, String?)]
    )
    func `an error of the project has a kind, and one of JSON-RPC has none`(number: Int, kind: String?) throws {
        let code = try #require(ErrorCode(rawValue: number))

        #expect(code.kind == kind)
        #expect(kind.flatMap(ErrorCode.init(kind:)) == kind.map { _ in code })
    }

    @Test func `the table covers every error code`() {
        #expect(ErrorCode.allCases.count == 18)
    }

    @Test func `each error of JSON-RPC has a word in the library`() {
        let codes: [ErrorCode] = [.parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError]

        #expect(
            codes.map(\.word) == ["parseError", "invalidRequest", "methodNotFound", "invalidParams", "internalError"]
        )
    }

    @Test func `the capabilities have their documented words`() {
        #expect(Capability.allCases.map(\.rawValue) == ["status", "token", "api", "handle", "manage"])
    }
}
