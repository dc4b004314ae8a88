import JunctionProtocol
import JunctionServer
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import JunctionDaemon

/// The lines of the audit, which are written after the answers.
@Suite struct AuditTrailTests {
    private func token(_ process: Int32, generation: UInt64 = 1) -> AuditedAct {
        AuditedAct(kind: .tokenHandedOut(generation: generation), caller: AuditedCaller(user: 1_000, process: process))
    }

    private func refusal(of user: UInt32, _ process: Int32 = 1, unit: String? = nil) -> AuditedAct {
        let caller = AuditedCaller(user: user, process: process, unit: unit)
        return AuditedAct(kind: .refused(.tokenGet, lacking: .token), caller: caller)
    }

    // MARK: What becomes a line

    private let most = AuditMerger.mostSingleLines

    @Test func `each act has its own line, and equal acts are not merged`() {
        var merger = AuditMerger()
        let acts = [token(1), token(1), token(2), token(1, generation: 2)]

        let due = acts.map { merger.note($0) }

        let none = AuditMerger.Due()
        #expect(due == [AuditMerger.Due(endOfPeriod: true, lines: true), none, none, none])
        #expect(merger.takeLines() == acts.map { AuditTrail.Line(act: $0, count: 1) })
        #expect(merger.takeLines().isEmpty)
        merger.endPeriod()
        #expect(merger.takeLines().isEmpty)
    }

    @Test func `further acts of a caller become one line with a count, also from other processes`() {
        var merger = AuditMerger()
        let acts = (0..<1_000).map { refusal(of: 7, Int32($0), unit: "a.service") }

        for act in acts { _ = merger.note(act) }

        #expect(merger.takeLines().map(\.act) == Array(acts.prefix(most)))
        #expect(merger.note(acts[0]) == AuditMerger.Due())
        merger.endPeriod()
        #expect(merger.takeLines() == [AuditTrail.Line(act: acts[most], count: 1_001 - most)])
    }

    @Test func `each user, unit and kind of act is counted separately`() {
        var merger = AuditMerger()
        let connection = AuditedAct(kind: .turnedAway, caller: AuditedCaller(user: 1_000, process: 1))
        let caller = AuditedCaller(user: 7, process: 1)
        let others =
            [refusal(of: 8), refusal(of: 7, unit: "a.service"), token(1), connection]
            + [.signedIn, .signedOut].map { AuditedAct(kind: $0, caller: caller) }

        for _ in 0..<2 * most { _ = merger.note(refusal(of: 7)) }
        _ = merger.takeLines()
        for act in others { _ = merger.note(act) }

        #expect(merger.takeLines().map(\.act) == others)
    }

    @Test func `a new period gives every caller its single lines again`() {
        var merger = AuditMerger()
        for _ in 0..<2 * most { _ = merger.note(refusal(of: 7)) }
        merger.endPeriod()
        _ = merger.takeLines()

        #expect(merger.note(refusal(of: 7)) == AuditMerger.Due(endOfPeriod: true, lines: true))
        #expect(merger.takeLines().count == 1)
    }

    @Test func `callers above the limit are counted together, and no act is lost`() {
        var merger = AuditMerger()
        let callers = UInt32(AuditMerger.mostCallers) + 1_000

        for user in 0..<callers { _ = merger.note(refusal(of: user)) }

        let single = merger.takeLines()
        #expect(single.count == AuditMerger.mostCallers + most)
        merger.endPeriod()
        let merged = merger.takeLines()
        #expect(merged.map(\.act.caller) == [nil])
        #expect(single.count + (merged.first?.count ?? 0) == Int(callers))
    }

    /// journald drops lines of a service beyond 10,000 in 30 s (`RateLimitBurst=`, `RateLimitIntervalSec=`). These
    /// could include the daemon's warnings about renewals.
    @Test func `the lines of a period are fewer than half of journald's default limit`() {
        var merger = AuditMerger()
        var lines = 0
        for act in 0..<200_000 {
            let user = UInt32(act % 500)
            switch act / 500 % 3 {
            case 0: _ = merger.note(refusal(of: user, Int32(act), unit: "\(act % 7).service"))
            case 1:
                _ = merger.note(AuditedAct(kind: .turnedAway, caller: AuditedCaller(user: user, process: Int32(act))))
            default: _ = merger.note(AuditedAct(kind: .turnedAway, caller: nil))
            }
            if act.isMultiple(of: 100) { lines += merger.takeLines().count }
        }
        merger.endPeriod()
        lines += merger.takeLines().count

        #expect(lines <= AuditMerger.mostLines)
        #expect(AuditTrail.period == .seconds(30))
        #expect(AuditMerger.mostLines < 10_000 / 2)
    }

    // MARK: When it is written

    @Test func `lines are written after 20 ms, and lines with a count at the end of the period`() throws {
        let loop = EmbeddedEventLoop()
        let written = Signals<AuditTrail.Line>()
        let trail = AuditTrail(loop) { written.put($0) }
        for _ in 0..<most + 10 { trail.note(refusal(of: 7)) }

        loop.advanceTime(by: AuditTrail.delay)
        for _ in 0..<most { #expect(written.take() == AuditTrail.Line(act: refusal(of: 7), count: 1)) }
        loop.advanceTime(by: AuditTrail.period)
        #expect(written.take() == AuditTrail.Line(act: refusal(of: 7), count: 10))

        // No more lines are due.
        loop.advanceTime(by: .hours(1))
        trail.note(refusal(of: 8))
        loop.advanceTime(by: AuditTrail.delay)
        #expect(written.take() == AuditTrail.Line(act: refusal(of: 8), count: 1))
    }

    @Test func `closing the trail writes the remaining lines`() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let written = Signals<AuditTrail.Line>()
        let trail = AuditTrail(loop) { written.put($0) }

        try loop.submit { for _ in 0..<most + 10 { trail.note(token(1)) } }.wait()
        trail.close()

        #expect(written.count == most + 1)
        try group.syncShutdownGracefully()
    }
}
