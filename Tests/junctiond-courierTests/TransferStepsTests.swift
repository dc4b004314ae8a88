import JunctionCourier
import Testing

@testable import junctiond_courier

/// Each step of a transfer has a limit of its own.
struct TransferStepsTests {
    private let limits = TransferLimits(resolve: 100, connect: 20, silence: 3, whole: 10, longestAnswer: 0)

    @Test func `a slow name leaves the whole limit for what follows it`() {
        var steps = TransferSteps(limits, at: 1_000)
        #expect(steps.deadline == 1_100)
        #expect(steps.lateness(at: 1_099, isPaused: false) == nil)
        #expect(steps.lateness(at: 1_100, isPaused: false) == .resolvedTooLate)

        steps.resolved(at: 1_099)
        #expect(steps.lateness(at: 1_118, isPaused: false) == nil)
        #expect(steps.lateness(at: 1_119, isPaused: false) == .connectedTooLate)
        // It is noted once, however often it is asked.
        steps.resolved(at: 1_118)
        #expect(steps.deadline == 1_119)
        #expect(!steps.hasLeft)
    }

    @Test func `what has to leave by a time leaves before it or not at all, however late it begins`() {
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

    @Test func `the limit that is named is the one that was reached`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        #expect(steps.limitOfAnswer(at: 53) == 3)
        steps.moved(at: 58)
        #expect(steps.limitOfAnswer(at: 60) == 10)
    }

    @Test func `what moves may go on until the whole is over`() {
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

    @Test func `what does not move is given up before`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        #expect(steps.lateness(at: 53, isPaused: false) == .answeredTooLate)
        // Nothing can move while the daemon has no space.
        #expect(steps.lateness(at: 53, isPaused: true) == nil)
        #expect(steps.lateness(at: 60, isPaused: true) == .answeredTooLate)
    }

    @Test func `a request that leaves for the second time has no more time for the whole`() {
        var steps = TransferSteps(limits, at: 0)
        _ = steps.leaves(at: 50)
        _ = steps.leaves(at: 58)
        #expect(steps.lateness(at: 59, isPaused: false) == nil)
        #expect(steps.lateness(at: 60, isPaused: false) == .answeredTooLate)
    }

    @Test func `without a limit for the whole it goes on for as long as something moves`() {
        var endless = limits
        endless.whole = 0
        var steps = TransferSteps(endless, at: 0)
        _ = steps.leaves(at: 50)
        for now in stride(from: 52 as Int64, to: 5_000, by: 2) { steps.moved(at: now) }
        #expect(steps.lateness(at: 5_000, isPaused: false) == nil)
    }
}
