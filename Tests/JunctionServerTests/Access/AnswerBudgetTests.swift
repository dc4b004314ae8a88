import JunctionSession
import Testing

@testable import JunctionServer

struct AnswerBudgetTests {
    private func budget() -> AnswerBudget { AnswerBudget(perUser: 10, altogether: 25) }

    @Test func `a reservation that fits is granted at once, and another one waits for a release`() {
        var budget = budget()
        let (first, second) = (budget.reserve(6, for: 1), budget.reserve(6, for: 1))

        #expect(budget.granted() == [first])
        #expect(budget.used(by: 1) == 6)
        budget.release(1, of: 1)
        #expect(budget.granted() == [])
        budget.release(1, of: 1)
        #expect(budget.granted() == [second])
        #expect(budget.used == 10)
        #expect(budget.granted() == [])
    }

    @Test func `a user whose share is full delays no other user`() {
        var budget = budget()
        budget.keep(10, for: 1)
        _ = budget.reserve(1, for: 1)
        let other = budget.reserve(10, for: 2)

        #expect(budget.granted() == [other])
    }

    @Test func `a small reservation does not pass an earlier one of the same user`() {
        var budget = budget()
        budget.keep(5, for: 1)
        let (large, small) = (budget.reserve(6, for: 1), budget.reserve(1, for: 1))

        #expect(budget.granted() == [])
        budget.release(1, of: 1)
        #expect(budget.granted() == [large])
        budget.release(4, of: 1)
        #expect(budget.granted() == [small])
    }

    @Test func `a small reservation does not pass one that waits for the total of all users`() {
        var budget = budget()
        for user in [1, 2] as [UInt32] { budget.keep(10, for: user) }
        let (large, small) = (budget.reserve(8, for: 3), budget.reserve(1, for: 4))

        #expect(budget.granted() == [])
        budget.release(3, of: 1)
        #expect(budget.granted() == [large])
        budget.release(1, of: 1)
        #expect(budget.granted() == [small])
    }

    @Test func `users with many kept bytes do not delay a user without any`() {
        var budget = budget()
        for user in [1, 2] as [UInt32] { budget.keep(10, for: user) }
        for user in [1, 2, 1, 2] as [UInt32] { _ = budget.reserve(5, for: user) }
        #expect(budget.mayBegin(for: 3))
        let third = budget.reserve(10, for: 3)

        #expect(budget.granted() == [])
        budget.release(5, of: 1)
        #expect(budget.granted() == [third])
    }

    @Test func `a reservation that was passed many times comes first`() {
        var budget = budget()
        budget.keep(5, for: 1)
        budget.keep(10, for: 2)
        budget.keep(10, for: 3)
        let slow = budget.reserve(5, for: 1)
        // The other users come one after the other. Each has read its answer when the next one comes.
        for user in 3..<UInt32(3 + AnswerBudget.mostPasses) {
            let fast = budget.reserve(10, for: user + 1)
            budget.release(10, of: user)
            #expect(budget.granted() == [fast])
        }
        let last = UInt32(3 + AnswerBudget.mostPasses)
        _ = budget.reserve(10, for: last + 1)
        budget.release(10, of: last)
        #expect(budget.granted() == [slow])
    }

    @Test func `a withdrawn reservation lets others pass`() {
        var budget = budget()
        budget.keep(8, for: 1)
        let (gone, next) = (budget.reserve(5, for: 1), budget.reserve(2, for: 1))

        #expect(budget.granted() == [])
        budget.withdraw(gone)
        #expect(budget.granted() == [next])
    }

    @Test func `an answer larger than the limit is granted when nothing else is kept`() {
        var budget = budget()
        budget.keep(1, for: 1)
        let large = budget.reserve(30, for: 1)

        #expect(budget.granted() == [])
        budget.release(1, of: 1)
        #expect(budget.granted() == [large])
        #expect(!budget.mayBegin(for: 1))
    }

    @Test func `bytes that must not wait are kept only if they fit now`() {
        var budget = budget()
        let fits = [(10, 1), (1, 1), (10, 2), (6, 3), (5, 3)].map { budget.keepIfRoom($0.0, for: $0.1) }

        #expect(fits == [true, false, true, false, true])
        #expect(budget.used == 25)
    }

    @Test func `short answers are always kept, and then no further call begins`() {
        var budget = budget()
        #expect(budget.mayBegin(for: 1))
        budget.keep(9, for: 1)
        #expect(budget.mayBegin(for: 1))
        budget.keep(9, for: 1)
        #expect(!budget.mayBegin(for: 1))
        #expect(budget.mayBegin(for: 2))
        budget.keep(2, for: 2)
        budget.keep(9, for: 3)
        #expect(!budget.mayBegin(for: 2))

        budget.release(18, of: 1)
        budget.release(2, of: 2)
        budget.release(9, of: 3)
        #expect(budget.mayBegin(for: 1))
        #expect(budget.used == 0)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `for any order of events, the limits hold and every reservation is granted in the end`(seed: UInt64) {
        var random = Randomness(seed: seed)
        var budget = budget()
        var waiting: [Int: (user: UInt32, bytes: Int)] = [:]
        var held: [(user: UInt32, bytes: Int)] = []

        func look() {
            for ticket in budget.granted() {
                guard let granted = waiting.removeValue(forKey: ticket) else { return #expect(Bool(false)) }
                held.append(granted)
            }
            #expect(budget.used == held.reduce(0) { $0 + $1.bytes })
            #expect(budget.used <= 25)
            for user in 0..<4 as Range<UInt32> {
                let used = held.reduce(0) { $0 + ($1.user == user ? $1.bytes : 0) }
                #expect(used == budget.used(by: user))
                #expect(used <= 10)
            }
        }
        for _ in 0..<200 {
            if Bool.random(using: &random) || held.isEmpty {
                let wanted = (
                    user: UInt32.random(in: 0..<4, using: &random), bytes: Int.random(in: 1...10, using: &random)
                )
                waiting[budget.reserve(wanted.bytes, for: wanted.user)] = wanted
            } else {
                let over = held.remove(at: .random(in: held.indices, using: &random))
                budget.release(over.bytes, of: over.user)
            }
            look()
        }
        while !held.isEmpty {
            let over = held.removeFirst()
            budget.release(over.bytes, of: over.user)
            look()
        }
        #expect(waiting.isEmpty)
    }
}

extension AnswerBudget {
    /// Returns the tickets of all reservations that fit now.
    fileprivate mutating func granted() -> [Int] {
        var tickets: [Int] = []
        while let ticket = grantNext() { tickets.append(ticket) }
        return tickets
    }
}
