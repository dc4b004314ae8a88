import JunctionNetworkHelper
import Testing

@testable import junctiond_courier

/// The time limits of the steps of a transfer.
struct TransferStepsTests {
    private let limits = TransferLimits(resolve: 100, connect: 20, silence: 3, whole: 10, longestAnswer: 0)

    @Test func `a slow name look-up leaves the full limit for the next step`() {
        var steps = TransferSteps(limits, at: 1_000)
        #expect(steps.deadline == 1_100)
        #expect(steps.lateness(at: 1_099, isPaused: false) == nil)
        #expect(steps.lateness(at: 1_100, isPaused: false) == .resolvedTooLate)

        steps.resolved(at: 1_099)
        #expect(steps.lateness(at: 1_118, isPaused: false) == nil)
        #expect(steps.lateness(at: 1_119, isPaused: false) == .connectedTooLate)
        // Only the first call counts.
        steps.resolved(at: 1_118)
        #expect(steps.deadline == 1_119)
        #expect(!steps.hasLeft)
    }

    @Test func `a request with a send deadline leaves before it or not at all`() {
        var limits = limits
        limits.sendDeadline = 1_050
        var steps = TransferSteps(limits, at: 1_000)
        #expect(steps.deadline == 1_050)
        steps.resolved(at: 1_040)
        #expect(steps.deadline == 1_050)
        #expect(steps.lateness(at: 1_050, isPaused: false) == .connectedTooLate)
        var inTime = steps
        let leaves = [inTime.leaves(at: 1_049), steps.leaves(at: 1_050)]
        #expect(leaves == [true, false])
        #expect(inTime.lateness(at: 1_050, isPaused: false) == nil)
        #expect(!steps.hasLeft)

        var late = TransferSteps(limits, at: 1_060)
        #expect(late.lateness(at: 1_060, isPaused: false) == .resolvedTooLate)
        let leavesLate = late.leaves(at: 1_060)
        #expect(!leavesLate)
    }

    @Test func `the reported limit is the one that was reached`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        #expect(steps.limitOfAnswer(at: 53) == 3)
        steps.moved(at: 58)
        #expect(steps.limitOfAnswer(at: 60) == 10)
    }

    @Test func `a transfer that moves may continue until the whole limit`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        #expect(steps.hasLeft)
        for now in [52, 54, 56, 58] as [Int64] {
            #expect(steps.lateness(at: now, isPaused: false) == nil)
            steps.moved(at: now)
        }
        #expect(steps.lateness(at: 59, isPaused: false) == nil)
        #expect(steps.lateness(at: 60, isPaused: false) == .answeredTooLate)
    }

    @Test func `a transfer that does not move ends earlier`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        #expect(steps.lateness(at: 53, isPaused: false) == .answeredTooLate)
        // Nothing can move while the daemon grants no bytes.
        #expect(steps.lateness(at: 53, isPaused: true) == nil)
        #expect(steps.lateness(at: 60, isPaused: true) == .answeredTooLate)
    }

    @Test func `a request that leaves twice does not get a new whole limit`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        _ = steps.leaves(at: 58)
        #expect(steps.lateness(at: 59, isPaused: false) == nil)
        #expect(steps.lateness(at: 60, isPaused: false) == .answeredTooLate)
    }

    @Test func `without a whole limit a transfer continues while bytes move`() {
        var endless = limits
        endless.whole = 0
        var steps = TransferSteps(endless, at: 0)
        _ = steps.leaves(at: 50)
        for now in stride(from: 52 as Int64, to: 5_000, by: 2) { steps.moved(at: now) }
        #expect(steps.lateness(at: 5_000, isPaused: false) == nil)
    }
}
