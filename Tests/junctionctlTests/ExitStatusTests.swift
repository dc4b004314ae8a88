import JunctionClient
import JunctionJSON
import JunctionProtocol
import Testing

@testable import junctionctl

/// The error output for scripts: an exit code and one line.
struct ExitStatusTests {
    @Test(arguments: [
        (ErrorCode.notSignedIn, Int32(3)), (.permissionDenied, 77),
        (.reauthenticationRequired, 75), (.providerUnavailable, 75), (.storageUnavailable, 75), (.tokenExpired, 75),
        (.busy, 75), (.misconfigured, 78),
        (.alreadySignedIn, 1), (.invalidCredential, 1), (.sessionTerminated, 1), (.incompatibleCredential, 1),
        (.unsupported, 1), (.parseError, 1), (.invalidRequest, 1), (.methodNotFound, 1), (.invalidParams, 1),
        (.internalError, 1),
    ])
    func `each error of the daemon has its exit code`(code: ErrorCode, status: Int32) {
        #expect(ExitStatus(JunctionError(WireError(code, "no"))).rawValue == status)
    }

    @Test func `the list above has every error code`() {
        #expect(ErrorCode.allCases.count == 18)
    }

    @Test(arguments: [
        (JunctionError.Kind.daemonUnreachable, Int32(69)), (.connectionLost, 69), (.permissionDenied, 77),
        (.invalidSocketPath, 78), (.timedOut, 75), (.localFailure, 75), (.unreadableAnswer, 1), (.requestTooLarge, 1),
        (.init(rawValue: "newlyInvented"), 1),
    ])
    func `each error of the connection has its exit code`(kind: JunctionError.Kind, status: Int32) {
        #expect(ExitStatus(JunctionError(kind, "no")).rawValue == status)
    }

    @Test func `an error is one line with its message, its kind and its remedy`() {
        let failure = CommandFailure(JunctionError(WireError(.notSignedIn, "Nobody is signed in")))

        #expect(failure.line == "junctionctl: Nobody is signed in (notSignedIn): run 'junctionctl sign-in'")
    }

    @Test func `the daemon's remedy has priority over the remedy of the kind`() {
        let told = JunctionError(WireError(.tokenExpired, "no", remedy: "start the app"))
        let delayed = JunctionError(WireError(.tokenExpired, "no", retryAfter: 5, remedy: "start the app"))

        #expect(CommandFailure(told).line == "junctionctl: no (tokenExpired): start the app")
        #expect(CommandFailure(delayed).line == "junctionctl: no (tokenExpired): start the app; try again in 5 s")
    }

    @Test func `no remedy of a kind mentions retries or renewals`() {
        for code in ErrorCode.allCases {
            let line = CommandFailure(JunctionError(WireError(code, "no"))).line
            #expect(!line.contains("keeps trying"), "\(line)")
            #expect(!line.contains("junctionctl renew"), "\(line)")
        }
    }

    @Test func `the remedy for a missing right is whoami, and for a refused path it is not`() {
        let right = CommandFailure(JunctionError(WireError.denied(.manage))).line
        let path = CommandFailure(JunctionError(WireError(.permissionDenied, "no"))).line

        #expect(right.contains("'junctionctl whoami'"))
        #expect(right.contains("that allows 'manage'"))
        #expect(!path.contains("access"))
    }

    @Test func `the daemon's remedy for a missing right replaces the default one`() {
        let line = CommandFailure(JunctionError(WireError.denied(.manage, remedy: "ask Anna"))).line

        #expect(line.hasSuffix("ask Anna"))
        #expect(!line.contains("whoami"))
    }

    @Test func `the JSON of an error has the kind, the code and the wire members`() {
        let error = WireError(
            .sessionTerminated,
            "a\nb",
            retryAfter: 1.5,
            termination: Termination(code: "c", message: "t", at: Timestamp(milliseconds: 0)),
            remedy: "r"
        )
        var writer = JSONWriter()
        CommandFailure(JunctionError(error)).write(to: &writer, helpedBy: "x")

        #expect(
            String(decoding: writer.take(), as: UTF8.self) == #"{"error":{"kind":"sessionTerminated","message":"a\nb","#
                + #""remedy":"r; try again in 2 s","exitCode":1,"code":1005,"retryAfter":1.5,"#
                + #""termination":{"code":"c","message":"t","at":"1970-01-01T00:00:00Z"}}}"#
        )
    }

    @Test func `a usage error names the help page of its verb`() {
        let failure = CommandFailure(usage: "no")

        #expect(failure.line(helpedBy: "junctionctl api --help").hasSuffix("(usage): see 'junctionctl api --help'"))
        #expect(
            HelpPage.named(by: "Error: x 'y'\nUsage: z\n  See 'junctionctl token --help' for more information.")
                == "junctionctl token --help"
        )
        #expect(HelpPage.named(by: "Error: See 'nothing'") == nil)
    }

    @Test func `the error for no free port has its own text`() {
        #expect(CommandFailure(noPort: 98).line.contains("every port of this machine is in use"))
    }

    @Test func `control characters in a provider's message are escaped`() {
        let failure = CommandFailure(JunctionError(WireError(.providerUnavailable, "a\nb\u{1B}[2Jc\u{9B}d é")))

        #expect(failure.line.hasPrefix("junctionctl: a b\\u001b[2Jc\\u009bd é (providerUnavailable): "))
        #expect(!failure.line.contains("\n"))
    }

    @Test func `an error with a retry time says when to try again`() {
        let error = JunctionError(WireError(.providerUnavailable, "no", retryAfter: 7.2))

        #expect(CommandFailure(error).line.hasSuffix(": try again in 8 s"))
    }

    @Test func `an error about the validity has the longest possible one`() {
        let error = JunctionError(WireError(.invalidParams, "no", maximum: 2880))

        #expect(CommandFailure(error).line.hasSuffix(": at most 2880 s is possible"))
    }
}
