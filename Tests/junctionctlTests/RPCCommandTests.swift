import ArgumentParser
import Testing

@testable import junctionctl

/// What rpc does not call: whatever it has no answers for.
struct RPCCommandTests {
    @Test(arguments: [
        ("session.identify", "junctionctl identify"), ("handler.register", "junctionctl handle-renewals"),
    ])
    func `a method about which the daemon asks back has a verb of its own`(method: String, verb: String) {
        for params in [[], ["-"], [#"{"externalUserId":"q"}"#]] {
            let error = #expect(throws: (any Error).self) { try RPCCommand.parse([method] + params) }

            #expect(error.map { RPCCommand.message(for: $0) }?.contains("use '\(verb)'") == true)
        }
    }

    @Test func `every other method is called`() throws {
        #expect(try RPCCommand.parse(["session.status"]).method == "session.status")
        #expect(try RPCCommand.parse(["session.signIn", "-"]).params == "-")
    }
}
