import JunctionJSON
import JunctionProtocol
import Testing

@testable import junctionctl

/// The command of `handle-renewals --exec`.
struct RenewalScriptTests {
    private let now = Timestamp("2026-11-21T06:00:00Z")!

    private func outcome(of line: String, within milliseconds: Int64 = 60_000) -> RenewalScript.Outcome {
        let request = RenewalRequest(
            renewalId: "7",
            reason: .expiring,
            userId: "joe's",
            expiresAt: nil,
            deadline: Timestamp(milliseconds: now.milliseconds + milliseconds)
        )
        return RenewalScript(line: line).outcome(of: request, input: Array(#"{"userId":"joe's"}"#.utf8), at: now)
    }

    @Test(arguments: ["/nonexistent", "/", "", "  ", "A=1 /nonexistent x", "/etc/passwd", "no-such-program-here"])
    func `a command whose program cannot be run is noticed`(line: String) {
        #expect(RenewalScript(line: line).programIsMissing)
    }

    @Test(arguments: [
        "/bin/sh -c true", "sh", "A=1 sh", "'/bin/sh'", "true; x", "\"$HOME\"/x", "exec sh",
        "token=$(curl -s URL); echo $token", "T=$(pass show app)", "PATH=/opt/app get-token",
    ])
    func `a command that the shell may be able to run is not reported`(line: String) {
        #expect(!RenewalScript(line: line).programIsMissing)
    }

    @Test(
        arguments: [
            ("echo renew", .renew),
            ("printf unable", .unableToRetrieveAuthToken),
            (#"echo '{"action":"renew"}'"#, .renew),
            (
                #"echo ' {"action":"renewWithAuthToken","authToken":"t"} '"#,
                .renewWithAuthToken(SecretText("t"))
            ),
            (
                #"echo '{"action":"renewWithSignature","signature":"s","sequence":"18446744073709551615"}'"#,
                .renewWithSignature(SecretText("s"), sequence: .max)
            ),
        ] as [(String, RenewalAnswer)]
    )
    func `the output of the command is the answer`(line: String, answer: RenewalAnswer) {
        let outcome = outcome(of: line)

        #expect(outcome.answer == answer)
        #expect(outcome.failure == nil)
    }

    @Test func `the command gets the request on standard input and the user in its environment`() {
        let line = #"""
            read request
            test "$request" = '{"userId":"joe'"'"'s"}' &&
            printf '{"action":"renewWithAuthToken","authToken":"%s:%s"}' "$JUNCTION_USER_ID" "$JUNCTION_RENEWAL_REASON"
            """#

        #expect(outcome(of: line).answer == .renewWithAuthToken(SecretText("joe's:expiring")))
    }

    @Test(arguments: [
        ("echo renew; exit 3", "exit code 3"),
        ("kill -9 $$", "signal 9"),
        ("true", "printed nothing"),
        ("echo secret-of-joe", "neither JSON"),
        (#"echo '{"action":"dance","authToken":"secret-of-joe"}'"#, "result.action"),
        (#"echo '{"action":"renewWithAuthToken"}'"#, "result.authToken"),
        ("exec yes", "longer than"),
    ])
    func `a failing command is unable, and the error does not show its output`(line: String, why: String) {
        let outcome = outcome(of: line)

        #expect(outcome.answer == .unableToRetrieveAuthToken)
        #expect(outcome.failure?.contains(why) == true, "\(outcome.failure ?? "")")
        #expect(outcome.failure?.contains("secret-of-joe") == false)
    }

    @Test(arguments: [
        "cat /dev/zero | sleep 1000", "exec >&-; sleep 1000", "sleep 1000 & wait", "trap '' TERM; sleep 1000",
    ])
    func `a command is killed at the deadline with all its processes`(line: String) {
        let outcome = outcome(of: line, within: 50)

        #expect(outcome.answer == .unableToRetrieveAuthToken)
        #expect(outcome.failure?.contains("in time") == true, "\(outcome.failure ?? "")")
    }

    @Test func `a command need not read its input`() {
        #expect(outcome(of: "exec <&-; echo renew").answer == .renew)
    }

    @Test func `each renewal is one line, without the token`() {
        let request = RenewalRequest(renewalId: "7", reason: .expired, userId: "joe\nX", expiresAt: nil, deadline: now)
        let given = RenewalScript.Outcome(answer: .renewWithAuthToken(SecretText("secret-of-joe")))
        let failed = RenewalScript.Outcome(answer: .unableToRetrieveAuthToken, failure: "it\nbroke")

        #expect(given.line(about: request) == "renewal 7 of joe X (expired): renewWithAuthToken")
        #expect(
            failed.line(about: request) == "renewal 7 of joe X (expired): unableToRetrieveAuthToken: it broke"
        )

        var writer = JSONWriter()
        given.write(about: request, to: &writer)
        #expect(
            String(decoding: writer.take(), as: UTF8.self)
                == #"{"renewalId":"7","reason":"expired","userId":"joe\nX","action":"renewWithAuthToken","failure":null}"#
        )
    }
}
