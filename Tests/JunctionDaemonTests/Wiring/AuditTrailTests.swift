import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import JunctionDaemon

/// The audit's lines, written behind the back of the answers.
@Suite struct AuditTrailTests {
    private func act(_ process: Int32, generation: UInt64 = 1) -> AuditedAct {
        AuditedAct(kind: .tokenHandedOut(generation: generation), caller: Caller(user: 1_000, process: process))
    }

    /// Notes all of these in one go, and returns what was written.
    private func lines(of acts: [AuditedAct]) throws -> [AuditTrail.Line] {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let written = Written()
        let trail = AuditTrail(loop) { written.add($0) }
        try loop.submit { for act in acts { trail.note(act) } }.wait()
        trail.close()
        try group.syncShutdownGracefully()
        return written.lines
    }

    @Test func `each act is a line, in its order, and equal ones are not one`() throws {
        let acts = [act(1), act(1), act(2), act(1, generation: 2)]

        #expect(try lines(of: acts) == acts.map { AuditTrail.Line(act: $0, count: 1) })
    }

    @Test func `in a flood equal acts share a line, and none is missing`() throws {
        let acts = (0..<100_000).map { act(Int32($0 % 3)) }

        let lines = try lines(of: acts)

        #expect(lines.count <= AuditTrail.mostSingleLines + 3)
        for process in Int32(0)..<3 {
            let count = lines.filter { $0.act == act(process) }.map(\.count).reduce(0, +)
            #expect(count == acts.filter { $0 == act(process) }.count)
        }
    }

    @Test func `many different callers in a flood are all written`() throws {
        let acts = (0..<5_000).map { act($0) }

        #expect(try lines(of: acts).map(\.act) == acts)
    }

    @Test func `lines come without anybody asking`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let written = Signals<AuditTrail.Line>()
        let trail = AuditTrail(loop) { written.put($0) }

        loop.execute { trail.note(act(1)) }

        #expect(written.take() == AuditTrail.Line(act: act(1), count: 1))
        try await group.shutdownGracefully()
    }
}

private final class Written: Sendable {
    private let state = Mutex<[AuditTrail.Line]>([])

    var lines: [AuditTrail.Line] { state.withLock { $0 } }

    func add(_ line: AuditTrail.Line) {
        state.withLock { $0.append(line) }
    }
}
