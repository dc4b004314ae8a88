import Glibc
import JunctionClient
import JunctionClientTesting
import Testing

/// Errors that the transcripts of the conformance suite do not have.
struct ErrorTests {
    @Test func `the description of an error has its message and its kind`() {
        #expect("\(JunctionError(.busy, "over"))" == "over (busy)")
    }

    @Test func `a daemon with too many connections reports busy to a separate connection`() throws {
        let daemon = ScriptedDaemon({ peer in
            peer.send(#"{"jsonrpc":"2.0","id":null,"error":{"code":1011,"message":"full","data":{"kind":"busy"}}}"#)
            // The connection ends after the request has arrived: a request that was not taken would be repeated.
            _ = peer.line()
        })
        var connection = try Connection(to: SocketPath(daemon.path))

        let error = #expect(throws: JunctionError.self) { try connection.perform(SessionStatus.self, NoParams()) }

        #expect(error?.kind == .busy)
    }

    @Test func `a missing daemon is an error that names the path`() async {
        let daemon = ScriptedDaemon(listening: false)

        let error = await #expect(throws: JunctionError.self) { try await daemon.client.status() }

        #expect(error?.kind == .daemonUnreachable)
        #expect(error?.message.contains(daemon.path) == true)
    }

    @Test func `a program without a free descriptor gets a local failure and does not wait for the daemon`() async {
        await #expect(processExitsWith: .success) {
            var none = rlimit()
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            var feed = SnapshotFeed(from: SocketPath("/nowhere"), patience: .always)
            do throws(JunctionError) {
                _ = try feed.next()
            } catch {
                exit(error.kind == .localFailure && !error.message.contains("/nowhere") ? 0 : 1)
            }
        }
    }

    @Test func `a path that no socket can have is an error of its own`() async {
        let client = JunctionClient(socket: "/" + String(repeating: "x", count: 200))

        let error = await #expect(throws: JunctionError.self) { try await client.status() }

        #expect(error?.kind == .invalidSocketPath)
    }
}
