import JunctionSession
import Testing

/// Sequences that may be used once, independent of how they are stored.
struct SequenceListTests {
    @Test func `a sequence has to be larger than every one of the same subject before`() throws {
        var list = SequenceList()
        try list.claim(5, of: "anna")
        try list.claim(5, of: "bert")
        for sequence in [0, 4, 5] as [UInt64] {
            #expect(throws: SequenceSpent(last: 5)) { try list.claim(sequence, of: "anna") }
        }
        try list.claim(.max, of: "anna")
        #expect(throws: SequenceSpent(last: .max)) { try list.claim(.max, of: "anna") }
    }

    @Test func `zero can be used once`() throws {
        var list = SequenceList()
        try list.claim(0, of: "anna")
        #expect(throws: SequenceSpent(last: 0)) { try list.claim(0, of: "anna") }
    }

    @Test func `a released sequence can be used again, and an earlier one cannot`() throws {
        var list = SequenceList()
        try list.claim(5, of: "anna")
        try list.claim(9, of: "anna")
        let isTakenBack = list.release(9, of: "anna")
        #expect(isTakenBack)
        #expect(throws: SequenceSpent(last: 5)) { try list.claim(5, of: "anna") }
        try list.claim(9, of: "anna")
    }

    @Test func `only the newest claim can be taken back, and only once`() throws {
        var list = SequenceList([SequenceList.Entry(subject: "carl", last: 3)])
        try list.claim(5, of: "anna")
        try list.claim(9, of: "anna")
        // A claim of another process (carl's) may have been sent.
        let releases: [(UInt64, String)] = [
            (5, "anna"), (9, "bert"), (3, "carl"), (9, "anna"), (9, "anna"), (5, "anna"),
        ]
        let outcomes = releases.map { list.release($0, of: $1) }
        #expect(outcomes == [false, false, false, true, false, false])
    }

    @Test func `a first claim that is taken back leaves nothing`() throws {
        var list = SequenceList()
        try list.claim(5, of: "anna")
        let isTakenBack = list.release(5, of: "anna")
        #expect(isTakenBack)
        #expect(list == SequenceList())
    }

    @Test func `the subject that was used least recently is forgotten first`() throws {
        var list = SequenceList()
        for number in 0..<SequenceList.capacity { try list.claim(1, of: "user-\(number)") }
        try list.claim(2, of: "user-0")
        try list.claim(1, of: "new")
        #expect(list.entries.count == SequenceList.capacity)
        #expect(list.entries.first?.subject == "user-2")
        #expect(throws: SequenceSpent(last: 2)) { try list.claim(2, of: "user-0") }
    }
}
