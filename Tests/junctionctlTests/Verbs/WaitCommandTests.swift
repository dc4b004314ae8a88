import ArgumentParser
import JunctionTesting
import Testing

@testable import junctionctl

/// The verb `wait`, as far as it needs no daemon.
struct WaitCommandTests {
    @Test func `without a daemon the error after the timeout names the cause`() throws {
        let folder = TemporaryFolder()
        let wait = try WaitCommand.parse(["--socket", folder.path + "/none.sock", "--timeout", "0.01"])

        let failure = #expect(throws: CommandFailure.self) { try wait.run() }

        #expect(
            failure?.what
                == "the session did not become 'signed-in' in time: no daemon answers on the path given to --socket"
        )
        #expect(failure?.remedy == "start junctiond, or name its socket with --socket")
        #expect(failure?.status == .temporary)
    }
}
