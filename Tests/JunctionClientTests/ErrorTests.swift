import Glibc
import JunctionClient
import JunctionClientTesting
import Testing

/// The errors of a refused call, and of an invalid answer.
struct ErrorTests {
    private func error(answering line: String) async -> JunctionError? {
        let daemon = ScriptedDaemon({ peer in
            _ = peer.line()
            peer.send(line)
            _ = peer.line()
        })
        do throws(JunctionError) {
            _ = try await daemon.client.status()
            return nil
        } catch {
            return error
        }
    }

    @Test func `an error contains all that the daemon sends about it`() async throws {
        let error = try #require(
            await error(
                answering: """
                    {"jsonrpc":"2.0","id":1,"error":{"code":1005,"message":"over","data":{"kind":"sessionTerminated",\
                    "retryAfter":1.5,"userId":"user-1","capability":"manage","maximum":60,\
                    "termination":{"code":"invalid_token","message":"gone","at":"2026-11-21T06:20:34Z"}}}}
                    """
            )
        )

        #expect(error.kind == .sessionTerminated)
        #expect(error.code == 1005)
        #expect(error.message == "over")
        #expect(error.retryAfter == .seconds(1.5))
        #expect(error.userId == "user-1")
        #expect(error.capability == "manage")
        #expect(error.maximum == .seconds(60))
        #expect(error.termination?.code == "invalid_token")
        #expect("\(error)" == "over (sessionTerminated)")
    }

    @Test(arguments: [
        (#"{"code":-32601,"message":"no"}"#, JunctionError.Kind.methodNotFound),
        (#"{"code":-32602,"message":"no"}"#, .invalidParams),
        (#"{"code":1006,"message":"no"}"#, .providerUnavailable),
        (#"{"code":1999,"message":"no","data":{"kind":"newlyInvented"}}"#, .init(rawValue: "newlyInvented")),
        (#"{"code":1998,"message":"no"}"#, .init(rawValue: "error1998")),
        (#"{"code":1006,"message":"no","data":{"kind":"providerUnavailable","retryAfter":-3}}"#, .providerUnavailable),
        (
            #"{"code":1006,"message":"no","data":{"kind":"providerUnavailable","retryAfter":1e300}}"#,
            .providerUnavailable
        ),
    ])
    func `every error code has a kind`(json: String, kind: JunctionError.Kind) async throws {
        let error = try #require(await error(answering: #"{"jsonrpc":"2.0","id":1,"error":\#(json)}"#))

        #expect(error.kind == kind)
        #expect(error.retryAfter == nil)
    }

    @Test(arguments: ["{}", "[", "nonsense", #"{"jsonrpc":"2.0","id":1,"result":{"revision":"x"}}"#])
    func `an invalid answer is an error, not a crash`(line: String) async throws {
        #expect(try #require(await error(answering: line)).kind == .unreadableAnswer)
    }

    @Test func `a daemon with too many connections reports busy`() async throws {
        let script: ScriptedDaemon.Script = { peer in
            peer.send(#"{"jsonrpc":"2.0","id":null,"error":{"code":1011,"message":"full","data":{"kind":"busy"}}}"#)
            // The connection ends after the request has arrived: a request that was not taken would be repeated.
            _ = peer.line()
        }
        let daemon = ScriptedDaemon(script, script)

        let ofTask = await #expect(throws: JunctionError.self) { try await daemon.client.status() }
        let ofThread = #expect(throws: JunctionError.self) {
            var connection = try Connection(to: SocketPath(daemon.path))
            _ = try connection.perform(SessionStatus.self, NoParams())
        }

        #expect(ofTask?.kind == .busy)
        #expect(ofThread?.kind == .busy)
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
