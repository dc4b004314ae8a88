import JunctionJSON
import JunctionProtocol
import Testing

struct WireErrorTests {
    @Test func `the error codes are those of the interface`() {
        let kinds = ErrorCode.allCases.filter { $0.rawValue > 0 }.map { "\($0.rawValue) \($0.kind ?? "")" }

        #expect(
            kinds == [
                "1001 alreadySignedIn", "1002 invalidCredential", "1003 notSignedIn", "1004 reauthenticationRequired",
                "1005 sessionTerminated", "1006 providerUnavailable", "1007 permissionDenied",
                "1008 incompatibleCredential", "1009 storageUnavailable", "1010 tokenExpired", "1011 busy",
                "1012 unsupported",
                "1013 misconfigured",
            ]
        )
        #expect(ErrorCode(kind: "busy") == .busy)
        #expect(ErrorCode(kind: "parseError") == nil)
        #expect(ErrorCode.parseError.kind == nil)
    }

    @Test func `an error contains values for programs`() throws {
        let error = WireError(
            .sessionTerminated,
            "m",
            retryAfter: 1.5,
            userId: "u",
            termination: Termination(code: "c", message: "t", at: Timestamp(milliseconds: 0)),
            capability: "api",
            maximum: 2880,
            remedy: "r"
        )

        #expect(
            written(error) == """
                {"code":1005,"message":"m","data":{"kind":"sessionTerminated","retryAfter":1.5,"userId":"u",\
                "termination":{"code":"c","message":"t","at":"1970-01-01T00:00:00Z"},"capability":"api","maximum":2880,\
                "remedy":"r"}}
                """
        )
        #expect(WireError(reading: try json(written(error))) == error)
    }

    @Test func `an error of the protocol has no data`() throws {
        let error = WireError.methodNotFound

        #expect(!written(error).contains("data"))
        #expect(WireError(reading: try json(written(error))) == error)
    }

    @Test func `an error for a parameter that is too large contains the maximum`() {
        #expect(
            written(WireError(.invalidParams, "m", maximum: 2880))
                == #"{"code":-32602,"message":"m","data":{"maximum":2880}}"#
        )
    }

    @Test func `a permission error names the capability`() {
        let error = WireError.denied(.manage)

        #expect(error.knownCode == .permissionDenied)
        #expect(error.capability == "manage")
    }

    @Test func `an unknown error keeps its code and its kind`() throws {
        let error = WireError(
            reading: try json(
                #"{"code":2001,"message":"m","data":{"kind":"newer","retryAfter":"soon","termination":3}}"#
            )
        )

        #expect(error.code == 2001)
        #expect(error.knownCode == nil)
        #expect(error.kind == "newer")
        #expect(error.retryAfter == nil)
        #expect(error.termination == nil)
    }

    @Test(arguments: ["null", "{}", #"{"code":"1","message":"m"}"#, #"{"code":1}"#, "[]"])
    func `a malformed error is still an error`(_ text: String) throws {
        #expect(WireError(reading: try json(text)) == .unreadable)
    }

    @Test(arguments: ErrorCode.allCases)
    func `every error has a summary`(_ code: ErrorCode) {
        #expect(code.summary.count > 10)
        #expect(!code.summary.hasSuffix("."))
    }
}
