import Testing

@testable import JunctionServer

/// The decisions about one connection, as a table of events and their actions.
struct ConnectionMachineTests {
    private struct Step {
        let event: Event
        let actions: ConnectionMachine.Actions

        init(_ event: Event, _ actions: ConnectionMachine.Actions = []) {
            (self.event, self.actions) = (event, actions)
        }
    }

    private func play(_ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation) -> ConnectionMachine {
        var machine = ConnectionMachine()
        for (number, step) in steps.enumerated() {
            let actions = step.event.apply(to: &machine)
            #expect(actions == step.actions, "step \(number): \(step.event)", sourceLocation: sourceLocation)
        }
        return machine
    }

    private static let much = ConnectionMachine.window + 1

    // MARK: Reading and writing

    @Test func `received lines are handled at once`() {
        _ = play([Step(.received(40), .handleLines), Step(.handled(1, rest: 0))])
    }

    @Test func `each unfinished line has its own deadline, which ends with the line`() {
        let machine = play([
            Step(.received(40), .handleLines),
            Step(.handled(0, rest: 40), .rearm),
            Step(.received(5), .handleLines),
            Step(.handled(0, rest: 45)),
            Step(.received(5), .handleLines),
            Step(.handled(1, rest: 3), .rearm),
        ])
        #expect(machine.deadline == .line(after: 1))
        #expect(machine.held == 3)

        var ended = machine
        #expect(ended.received(1) == .handleLines)
        #expect(ended.handled(1, rest: 0, mayHoldLines: false) == .rearm)
        #expect(ended.deadline == nil)
    }

    @Test func `a line that does not end in time is the last one`() {
        _ = play([
            Step(.received(40), .handleLines),
            Step(.handled(0, rest: 40), .rearm),
            Step(.deadlinePassed(), [.sayLineTooSlow, .forgetInput, .retire, .endOutput, .rearm]),
            Step(.deadlinePassed(), .close),
            Step(.closed, .rearm),
        ])
    }

    @Test func `while many bytes wait for the peer, no line is handled and nothing is read`() {
        var machine = play([
            Step(.received(400), .handleLines),
            Step(.waits(Self.much, owesAnswers: true)),
            Step(.handled(3, rest: 200, mayHoldLines: true), [.pause, .rearm]),
            Step(.received(100)),
        ])
        #expect(machine.deadline == .reading)
        #expect(machine.held == Self.much + 300)
        #expect(!machine.mayHandleLine(with: 0, after: 0))

        #expect(machine.waits(0, owesAnswers: false) == [.resumeSoon, .rearm])
        #expect(machine.received(1) == [])
        #expect(machine.resumed() == .handleLines)
        #expect(machine.handled(3, rest: 0, mayHoldLines: false) == .read)
    }

    @Test func `the lines of a peer that reads fast are handled in turns`() {
        _ = play([
            Step(.received(400), .handleLines),
            Step(.handled(1, rest: 300, mayHoldLines: true), [.pause, .resumeSoon]),
            Step(.resumed, .handleLines),
            Step(.handled(1, rest: 200, mayHoldLines: true), .resumeSoon),
            Step(.resumed, .handleLines),
            Step(.handled(4, rest: 0), .read),
        ])
    }

    @Test func `at most 64 KiB of answers may be pending, and at most 512 KiB are sent in one turn`() {
        let machine = ConnectionMachine()

        #expect(machine.mayHandleLine(with: ConnectionMachine.window, after: ConnectionMachine.turn - 1))
        #expect(!machine.mayHandleLine(with: ConnectionMachine.window + 1, after: 0))
        #expect(!machine.mayHandleLine(with: 0, after: ConnectionMachine.turn))
    }

    @Test func `a peer that reads some of its answers keeps the connection, and one that reads none loses it`() {
        _ = play([
            Step(.waits(Self.much, owesAnswers: true), [.pause, .rearm]),
            Step(.deadlinePassed(taken: 10, kept: 9), .rearm),
            Step(.deadlinePassed(taken: 11, kept: 9), .rearm),
            Step(.deadlinePassed(taken: 11, kept: 9), .close),
        ])
    }

    @Test func `a peer that reads the body of an API answer too slowly loses the connection`() {
        _ = play([
            Step(.bodyWaits(true), .rearm),
            Step(.waits(Self.much, owesAnswers: true), .pause),
            Step(.deadlinePassed(taken: 1), .rearm),
            // 16 KiB a second, for thirty seconds.
            Step(.deadlinePassed(taken: 491_521), .rearm),
            Step(.waits(0, owesAnswers: true), .read),
            Step(.waits(Self.much, owesAnswers: true), .pause),
            Step(.deadlinePassed(taken: 491_521 + 40_000), .rearm),
            Step(.deadlinePassed(taken: 491_521 + 80_000), .close),
        ])
    }

    @Test func `bytes that the kernel takes at once count as read only when the peer reads them`() {
        _ = play([
            Step(.bodyWaits(true), .rearm),
            Step(.waits(Self.much, owesAnswers: true), .pause),
            Step(.deadlinePassed(taken: 4_000_000, kept: 4_000_000), .rearm),
            Step(.deadlinePassed(taken: 4_000_000, kept: 3_500_000), .rearm),
            // The kernel counts more memory than the bytes. So when it takes more, fewer bytes seem to have been read.
            Step(.deadlinePassed(taken: 5_000_000, kept: 4_400_000), .rearm),
            Step(.deadlinePassed(taken: 5_000_000, kept: 3_900_000), .rearm),
            Step(.deadlinePassed(taken: 5_000_000, kept: 3_899_999), .close),
        ])
    }

    @Test func `a body that begins later has its full time, independent of earlier reading`() {
        _ = play([
            Step(.waits(Self.much, owesAnswers: true), [.pause, .rearm]),
            Step(.deadlinePassed(taken: 1), .rearm),
            Step(.deadlinePassed(taken: 2), .rearm),
            Step(.bodyWaits(true)),
            Step(.deadlinePassed(taken: 3), .rearm),
            Step(.deadlinePassed(taken: 4), .rearm),
            Step(.deadlinePassed(taken: 5), .close),
        ])
    }

    @Test func `after the body of an API answer, the usual deadline applies`() {
        let machine = play([
            Step(.bodyWaits(true), .rearm),
            Step(.deadlinePassed(taken: 1), .rearm),
            Step(.bodyWaits(false), .rearm),
        ])
        #expect(machine.deadline == nil)
    }

    @Test func `a peer that reads too slowly for the kernel to take more keeps the connection`() {
        _ = play([
            Step(.waits(Self.much, owesAnswers: true), [.pause, .rearm]),
            Step(.deadlinePassed(taken: 10, kept: 9), .rearm),
            Step(.deadlinePassed(taken: 10, kept: 8), .rearm),
            Step(.deadlinePassed(taken: 10, kept: 8), .close),
        ])
    }

    @Test func `answers behind a body are charged, and may end the connection`() {
        var machine = ConnectionMachine()
        let bytes = ConnectionMachine.window + 1
        _ = machine.bodyWaits(true, bytesBehind: bytes)
        #expect(machine.held == bytes && machine.chargeable == bytes)
        #expect(machine.overBudget().contains(.close))

        _ = machine.bodyWaits(false, bytesBehind: 0)
        #expect(machine.held == 0)
    }

    @Test func `unread notifications have no deadline, and answers among them have one`() {
        let machine = play([
            Step(.waits(Self.much, owesAnswers: false), .pause),
            Step(.waits(Self.much, owesAnswers: true), .rearm),
            Step(.waits(Self.much, owesAnswers: false), .rearm),
        ])
        #expect(machine.deadline == nil)
        #expect(machine.isBlocked)
    }

    // MARK: The end of the input

    @Test func `an end without pending requests closes the connection after the output`() {
        let machine = play([Step(.inputEnded, [.retire, .closeWhenWritten, .rearm])])

        #expect(machine.deadline == .reading)
    }

    @Test func `a last line without an ending is handled, and all requests are answered before the end`() {
        _ = play([
            Step(.received(40), .handleLines),
            Step(.handled(0, rest: 40), .rearm),
            Step(.inputEnded, .handleLines),
            Step(.requestBegan),
            Step(.handled(1, rest: 0), [.retire, .rearm]),
            Step(.requestEnded, [.closeWhenWritten, .rearm]),
        ])
    }

    @Test func `lines that wait when the input ends are handled as the peer reads, and then the connection closes`() {
        _ = play([
            Step(.received(4_000), .handleLines),
            Step(.waits(Self.much, owesAnswers: true)),
            Step(.handled(1, rest: 3_000, mayHoldLines: true), [.pause, .rearm]),
            Step(.inputEnded, .retire),
            Step(.waits(0, owesAnswers: false), [.resumeSoon, .rearm]),
            Step(.resumed, .handleLines),
            Step(.waits(Self.much, owesAnswers: true)),
            Step(.handled(1, rest: 2_000, mayHoldLines: true), .rearm),
            Step(.waits(0, owesAnswers: false), [.resumeSoon, .rearm]),
            Step(.resumed, .handleLines),
            Step(.handled(9, rest: 0), [.closeWhenWritten, .rearm]),
            Step(.closed, .rearm),
        ])
    }

    @Test func `a peer that does not read its last answers is closed at the deadline`() {
        _ = play([
            Step(.inputEnded, [.retire, .closeWhenWritten, .rearm]),
            Step(.deadlinePassed(taken: 7), .rearm),
            Step(.deadlinePassed(taken: 7), .close),
        ])
    }

    @Test func `while the daemon drains, an incomplete line is not an error`() {
        var machine = play([
            Step(.received(40), .handleLines),
            Step(.handled(0, rest: 40), .rearm),
            Step(.drainBegan, .shutInput),
            Step(.inputEnded, .handleLines),
        ])
        #expect(!machine.isAtEnd)

        #expect(machine.handled(0, rest: 40, mayHoldLines: false) == [.retire, .closeWhenWritten, .rearm])
    }

    @Test func `a last line without an ending from before the drain is handled`() {
        let machine = play([
            Step(.received(4_000), .handleLines),
            Step(.waits(Self.much, owesAnswers: true)),
            Step(.handled(1, rest: 3_000, mayHoldLines: true), [.pause, .rearm]),
            Step(.inputEnded, .retire),
            Step(.drainBegan),
        ])
        #expect(machine.isAtEnd)
    }

    // MARK: Dismissal

    @Test func `a peer that is dismissed during reading has its input wiped after the lines were handled`() {
        _ = play([
            Step(.received(40), .handleLines),
            Step(.requestBegan),
            Step(.dismissed),
            Step(.handled(2, rest: 10, mayHoldLines: true), [.forgetInput, .retire]),
            Step(.received(5), .forgetInput),
            Step(.requestEnded, [.endOutput, .rearm]),
            Step(.inputEnded, .closeWhenWritten),
            Step(.closed, .rearm),
        ])
    }

    @Test func `a dismissed peer that does not read is read again, and the input is dropped`() {
        _ = play([
            Step(.waits(Self.much, owesAnswers: true), [.pause, .rearm]),
            Step(.dismissed, [.retire, .read, .endOutput]),
            Step(.deadlinePassed(), .rearm),
            Step(.deadlinePassed(), .close),
        ])
    }

    @Test func `a dismissed peer gets its answers within their deadline, and then a moment to close`() {
        var machine = play([
            Step(.received(40), .handleLines),
            Step(.requestBegan),
            Step(.handled(1, rest: 0)),
            Step(.dismissed, .retire),
        ])
        #expect(machine.deadline == nil)

        _ = machine.waits(Self.much, owesAnswers: true)
        #expect(machine.requestEnded() == .endOutput)
        #expect(machine.deadline == .reading)
        #expect(machine.waits(0, owesAnswers: false) == .rearm)
        #expect(machine.deadline == .linger)
    }

    @Test func `after a line that is too long the close timeout starts at once, even with pending requests`() {
        let machine = play([
            Step(.received(40), .handleLines),
            Step(.requestBegan),
            Step(.cutShort),
            Step(.handled(2, rest: 10), [.forgetInput, .retire, .rearm]),
        ])
        #expect(machine.deadline == .linger)
    }

    @Test func `over the limit, a non-reader is closed, a sender gets an error, and a small connection stays`() {
        _ = play([Step(.received(Self.much), .handleLines), Step(.handled(0, rest: 10), .rearm), Step(.overBudget)])
        _ = play([Step(.waits(Self.much, owesAnswers: true), [.pause, .rearm]), Step(.overBudget, .close)])
        // A watcher may leave its notifications unread.
        _ = play([Step(.waits(Self.much, owesAnswers: false), .pause), Step(.overBudget)])
        _ = play([
            Step(.received(Self.much), .handleLines),
            Step(.handled(0, rest: Self.much), .rearm),
            Step(.overBudget, [.sayTooMuch, .forgetInput, .retire, .endOutput, .rearm]),
            Step(.overBudget),
        ])
    }

    @Test func `a closed connection has no further actions`() {
        var machine = play([
            Step(.waits(Self.much, owesAnswers: true), [.pause, .rearm]), Step(.closed, [.retire, .rearm]),
        ])

        for event in Event.all { #expect(event.apply(to: &machine) == [], "\(event)") }
        #expect(machine.held == 0)
    }

    // MARK: Every order

    /// Explores every sequence of events up to a length, with a model of a socket that carries out the actions.
    @Test func `in any order of events, no action is repeated and none is missing`() {
        var histories = 0
        func explore(_ model: ModelConnection, _ depth: Int) {
            histories += 1
            model.check()
            guard depth > 0, !model.isClosed else { return }
            for event in Event.all where model.isPossible(event) {
                var next = model
                next.apply(event)
                explore(next, depth - 1)
            }
        }

        explore(ModelConnection(), 5)

        #expect(histories > 5_000)
    }
}

private enum Event: Equatable {
    case received(Int)
    case handled(Int, rest: Int, mayHoldLines: Bool = false)
    case resumed
    case inputEnded
    case requestBegan
    case requestEnded
    case waits(Int, owesAnswers: Bool)
    case bodyWaits(Bool)
    case drainBegan
    case dismissed
    case cutShort
    case overBudget
    case deadlinePassed(taken: Int = 0, kept: Int = 0)
    case closed

    static let all: [Event] = [
        .received(10), .handled(1, rest: 0), .handled(1, rest: 5), .handled(1, rest: 5, mayHoldLines: true), .resumed,
        .inputEnded, .requestBegan, .requestEnded,
        .waits(ConnectionMachine.window + 1, owesAnswers: true),
        .waits(ConnectionMachine.window + 1, owesAnswers: false),
        .waits(0, owesAnswers: false), .bodyWaits(true), .bodyWaits(false), .drainBegan,
        .dismissed, .cutShort, .overBudget, .deadlinePassed(), .closed,
    ]

    func apply(to machine: inout ConnectionMachine) -> ConnectionMachine.Actions {
        switch self {
        case .received(let bytes): return machine.received(bytes)
        case .handled(let lines, let rest, let mayHoldLines):
            return machine.handled(lines, rest: rest, mayHoldLines: mayHoldLines)
        case .resumed: return machine.resumed()
        case .inputEnded: return machine.inputEnded()
        case .requestBegan:
            machine.requestBegan()
            return []
        case .requestEnded: return machine.requestEnded()
        case .waits(let bytes, let owesAnswers): return machine.waits(bytes, owesAnswers: owesAnswers)
        case .bodyWaits(let hasBody): return machine.bodyWaits(hasBody, bytesBehind: 0)
        case .drainBegan: return machine.drainBegan()
        case .dismissed: return machine.rejected()
        case .cutShort: return machine.cutShort()
        case .overBudget: return machine.overBudget()
        case .deadlinePassed(let taken, let kept):
            return machine.deadlinePassed(.init(taken: taken, kept: kept), after: .seconds(30))
        case .closed: return machine.closed()
        }
    }
}

/// A model connection that carries out the machine's actions and reports contradictory ones.
private struct ModelConnection {
    private var machine = ConnectionMachine()
    private var isReading = true
    private var isHandling = false
    private var isResumeDue = false
    private var hasEnded = false
    private var isLeaving = false
    private var hasOutputEnded = false
    private var isRetired = false
    private var unanswered = 0
    private var owesAnswers = false
    private(set) var isClosed = false

    func isPossible(_ event: Event) -> Bool {
        switch event {
        case .received: isReading && !hasEnded && !isHandling
        case .handled: isHandling
        case .resumed: isResumeDue && !isHandling
        case .inputEnded: !hasEnded && !isHandling
        case .requestBegan: isHandling && unanswered < 2
        case .requestEnded: unanswered > 0
        case .deadlinePassed: machine.deadline != nil && !isHandling
        case .waits(let bytes, _): machine.isBlocked != (bytes > 0)
        case .drainBegan, .dismissed, .cutShort, .overBudget, .bodyWaits: !isHandling
        case .closed: true
        }
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .handled: isHandling = false
        case .resumed: isResumeDue = false
        case .inputEnded: hasEnded = true
        case .requestBegan: unanswered += 1
        case .requestEnded: unanswered -= 1
        case .closed: isClosed = true
        case .waits(_, let owesAnswers): self.owesAnswers = owesAnswers
        case .received, .drainBegan, .dismissed, .cutShort, .overBudget, .deadlinePassed, .bodyWaits: break
        }
        let before = machine.deadline
        let actions = event.apply(to: &machine)
        #expect(machine.deadline == before || actions.contains(.rearm), "\(event)")
        carryOut(actions, after: event)
    }

    private mutating func carryOut(_ actions: ConnectionMachine.Actions, after event: Event) {
        if actions.contains(.retire) {
            #expect(!isRetired, "\(event)")
            isRetired = true
        }
        if actions.contains(.pause) || actions.contains(.read) {
            #expect(isReading == actions.contains(.pause), "\(event)")
            isReading = actions.contains(.read)
        }
        if actions.contains(.handleLines) {
            #expect(!isHandling && !machine.isBlocked && !isClosed, "\(event)")
            isHandling = true
        }
        if actions.contains(.resumeSoon) {
            #expect(!isResumeDue, "\(event)")
            isResumeDue = true
        }
        if actions.contains(.endOutput) {
            #expect(unanswered == 0 && !hasOutputEnded, "\(event)")
            hasOutputEnded = true
        }
        if actions.contains(.closeWhenWritten) {
            #expect(unanswered == 0 && !isLeaving, "\(event)")
            isLeaving = true
        }
        if actions.contains(.close) { isClosed = true }
    }

    /// Checks that the connection is not stuck: it either makes progress or waits for a deadline.
    func check() {
        guard !isClosed, !isHandling else { return }
        if !machine.isOpen { #expect(isRetired) }
        if machine.isBlocked, owesAnswers { #expect(machine.deadline != nil) }
        if hasEnded, unanswered == 0, !machine.isBlocked, !isResumeDue { #expect(isLeaving) }
        if isLeaving || hasOutputEnded { #expect(machine.deadline != nil) }
        if !isReading, !hasEnded { #expect(machine.isBlocked || isResumeDue) }
        if machine.isBlocked, machine.isOpen { #expect(!isReading) }
    }
}
