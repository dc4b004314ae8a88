import ArgumentParser
import Testing

@testable import junctionctl

/// The methods that `rpc` refuses because it cannot answer the daemon's questions, and the parameters that it does not
/// take as an argument.
struct RPCCommandTests {
    @Test(arguments: [
        ("session.identify", "junctionctl identify"), ("handler.register", "junctionctl handle-renewals"),
    ])
    func `a method with questions of the daemon is refused with the verb to use`(method: String, verb: String) {
        for params in [[], ["-"], [#"{"externalUserId":"q"}"#]] {
            let error = #expect(throws: (any Error).self) { try RPCCommand.parse([method] + params) }

            #expect(error.map { RPCCommand.message(for: $0) }?.contains("use '\(verb)'") == true)
        }
    }

    @Test func `other methods are accepted`() throws {
        #expect(try RPCCommand.parse(["session.status"]).method == "session.status")
        #expect(try RPCCommand.parse(["session.signIn", "-"]).params == "-")
        #expect(try RPCCommand.parse(["session.reconcile", #"{"userId":null}"#]).method == "session.reconcile")
    }

    @Test(arguments: ["session.signIn", "session.authorizationPage"])
    func `parameters that can contain a secret are refused as an argument`(method: String) throws {
        let error = #expect(throws: (any Error).self) { try RPCCommand.parse([method, #"{"codeVerifier":"S"}"#]) }

        #expect(error.map { RPCCommand.exitCode(for: $0) } == .validationFailure)
        #expect(error.map { RPCCommand.message(for: $0) }?.contains("give - and the parameters on standard") == true)
        #expect(try RPCCommand.parse([method, "-"]).params == "-")
    }
}
