import JunctionClient
import JunctionProtocol
import Testing

@testable import junctionctl

/// What a script sees of an error: a number, and one line.
struct ExitStatusTests {
    @Test(arguments: [
        (ErrorCode.notSignedIn, Int32(3)), (.permissionDenied, 77),
        (.reauthenticationRequired, 75), (.providerUnavailable, 75), (.storageUnavailable, 75), (.tokenExpired, 75),
        (.busy, 75),
        (.alreadySignedIn, 1), (.invalidCredential, 1), (.sessionTerminated, 1), (.incompatibleCredential, 1),
        (.unsupported, 1), (.parseError, 1), (.invalidRequest, 1), (.methodNotFound, 1), (.invalidParams, 1),
        (.internalError, 1),
    ])
    func `each error of the daemon's has its exit code`(code: ErrorCode, status: Int32) {
        #expect(ExitStatus(JunctionError(WireError(code, "no"))).rawValue == status)
    }

    @Test func `no error of the daemon's is forgotten above`() {
        #expect(ErrorCode.allCases.count == 17)
    }

    @Test(arguments: [
        (JunctionError.Kind.daemonUnreachable, Int32(69)), (.connectionLost, 69), (.permissionDenied, 77),
        (.invalidSocketPath, 78), (.timedOut, 75), (.localFailure, 75), (.unreadableAnswer, 1), (.requestTooLarge, 1),
        (.init(rawValue: "newlyInvented"), 1),
    ])
    func `each error on the way to the daemon has its exit code`(kind: JunctionError.Kind, status: Int32) {
        #expect(ExitStatus(JunctionError(kind, "no")).rawValue == status)
    }

    @Test func `an error is one line with what, the kind and what to do`() {
        let failure = CommandFailure(JunctionError(WireError(.notSignedIn, "Nobody is signed in")))

        #expect(failure.line == "junctionctl: Nobody is signed in (notSignedIn): run 'junctionctl sign-in'")
    }

    @Test func `what a provider says cannot reach the terminal's controls`() {
        let failure = CommandFailure(JunctionError(WireError(.providerUnavailable, "a\nb\u{1B}[2Jc\u{9B}d é")))

        #expect(failure.line.hasPrefix("junctionctl: a b [2Jc d é (providerUnavailable): "))
        #expect(!failure.line.contains("\n"))
    }

    @Test func `an error that passes says when to try again`() {
        let error = JunctionError(WireError(.providerUnavailable, "no", retryAfter: 7.2))

        #expect(CommandFailure(error).line.hasSuffix(": try again in 8 s"))
    }

    @Test func `a validity that no token has says which one is possible`() {
        let error = JunctionError(WireError(.invalidParams, "no", maximum: 2880))

        #expect(CommandFailure(error).line.hasSuffix(": at most 2880 s is possible"))
    }
}
