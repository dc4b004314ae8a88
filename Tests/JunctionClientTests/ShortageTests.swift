import Glibc
import JunctionClientTesting
import Testing

@testable import JunctionClient

/// A program that has no free descriptor for a while.
struct ShortageTests {
    @Test func `a watch waits with the usual backoff until there is a free descriptor`() async {
        await #expect(processExitsWith: .success) {
            let shortage = try WakeUpDescriptor()
            let daemon = ScriptedDaemon({ peer in
                peer.answer(peer.message(), snapshotJSON(revision: 1))
                shortage.waitForRing()
            })
            var feed = SnapshotFeed(Reconnection(to: SocketPath(daemon.path), patience: .always, unless: nil), .all)
            let first = try feed.next().value.revision

            var usual = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
            // A watch needs two descriptors, and only the three standard ones are allowed.
            var none = rlimit(rlim_cur: 3, rlim_max: usual.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            shortage.ring()
            var during: JunctionError?
            do throws(JunctionError) {
                _ = try feed.next(by: .after(.milliseconds(200)))
            } catch {
                during = error
            }

            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
            unlink(daemon.path)
            daemon.listen({ peer in
                peer.answer(peer.message(), snapshotJSON(revision: 2))
                _ = peer.line()
            })
            let second = during?.kind == .timedOut ? try feed.next().value.revision : 0
            exit(first == 1 && second == 2 ? 0 : 1)
        }
    }

    @Test(arguments: [Patience.onceConnected, .always])
    func `a lack of descriptors is waited for only after a first connection`(patience: Patience) throws {
        let shortage = JunctionError.system("a socket", EMFILE)
        var reconnection = Reconnection(to: SocketPath("/nowhere"), patience: patience, unless: nil)

        #expect(throws: shortage) { try reconnection.wait(after: shortage) }
        reconnection.connectionBegan()

        #expect(throws: Never.self) { try reconnection.wait(after: shortage) }
    }
}
