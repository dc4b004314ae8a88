import Testing

struct ShortestHistoryTests {
    @Test(arguments: [[], [0], [7], [3, 17], [0, 1, 2], [0, 9, 18, 29], Array(0..<30)])
    func `only the steps that a failure needs are kept`(needed: [Int]) {
        let found = shortest(Array(0..<30)) { steps in needed.allSatisfy(steps.contains) }
        #expect(found == needed)
    }

    @Test func `a failure with two causes keeps one of them`() {
        let found = shortest(Array(0..<30)) { $0.contains(4) || $0.contains(20) }
        #expect(found == [20])
    }

    @Test func `a history and its part have the same steps`() throws {
        let whole = History(seed: 3, pace: .dense, steps: Array(0..<30)).log()
        let again = History(seed: 3, pace: .dense, steps: Array(0..<30)).log()
        #expect(whole == again)
        let part = History(seed: 3, pace: .dense, steps: Array(0..<5)).log()
        let head = part.prefix { !$0.contains("step 4") }
        #expect(head.count > 5)
        #expect(Array(whole.prefix(head.count)) == Array(head))
    }
}
