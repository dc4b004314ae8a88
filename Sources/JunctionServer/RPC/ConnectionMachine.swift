/// Decides about one connection: when it is read from, when its lines are handled, how long it is waited for, and how it
/// ends. It sees numbers, never a byte, a socket or a clock; `Connection` carries out what it says.
///
/// What happens is noted, and then the whole state is looked at, always in the same way: so reading, writing, draining
/// and letting go cannot disagree.
struct ConnectionMachine: Equatable {
    /// While more than this in answers waits for the peer, none of its lines is handled: who does not read its answers
    /// may not ask on.
    static let window = 1 << 16
    /// So much may be answered to a peer that reads it as fast, before others have a turn.
    static let turn = 1 << 19

    /// What is to be done, in the order in which it is declared.
    struct Actions: OptionSet {
        let rawValue: UInt16

        /// Tell the peer that a line has not ended in time.
        static let sayLineTooSlow = Actions(rawValue: 1 << 0)
        /// Tell the peer that its user has too much waiting here.
        static let sayTooMuch = Actions(rawValue: 1 << 1)
        /// Wipe what was received and will not be handled.
        static let forgetInput = Actions(rawValue: 1 << 2)
        /// End subscriptions, handler duty and questions: nothing could come back.
        static let retire = Actions(rawValue: 1 << 3)
        /// Read nothing more for now.
        static let pause = Actions(rawValue: 1 << 4)
        /// Read on.
        static let read = Actions(rawValue: 1 << 5)
        /// Have the peer's sending end here; what has arrived can still be read.
        static let shutInput = Actions(rawValue: 1 << 6)
        /// Handle lines now, and report with `handled`.
        static let handleLines = Actions(rawValue: 1 << 7)
        /// Call `resumed` when others have had their turn.
        static let resumeSoon = Actions(rawValue: 1 << 8)
        /// Send the peer the end, behind what is on its way.
        static let endOutput = Actions(rawValue: 1 << 9)
        /// Close when everything is with the kernel.
        static let closeWhenWritten = Actions(rawValue: 1 << 10)
        /// Close, whatever is under way.
        static let close = Actions(rawValue: 1 << 11)
        /// `deadline` is another one now: begin to wait for it.
        static let rearm = Actions(rawValue: 1 << 12)
    }

    /// What the peer is given time for.
    enum Deadline: Equatable {
        /// To go, after it has been sent all that it is owed, and the end.
        case farewell
        /// To read its answers, as long as it takes some of them, and of the body of an API answer 16 KiB a second
        /// (`WaitingBudget`). Who is only told notification may leave them unread for ever: there is never more of them than the window.
        case reading
        /// To end the line that it has begun after so many others.
        case line(after: Int)
    }

    /// How far a peer has read, as far as one can see from here: as long as neither number changes, it reads nothing.
    struct Progress: Equatable {
        /// The bytes that the kernel has taken for the peer since the beginning. It takes no more until most of what it
        /// has is read, so that this alone stands still for a slow reader.
        var taken = 0
        /// The memory that the kernel has in use for what is not read.
        var kept = 0

        /// So many bytes the peer has read at least: the kernel may take far more at once than a slow peer reads in a minute.
        var read: Int { max(0, taken - max(0, kept)) }
    }

    private var hasInputEnded = false
    private var isDismissed = false
    private var isCutShort = false
    private var isDraining = false
    private(set) var isClosed = false

    /// Requests whose answers are not known yet.
    private var unanswered = 0
    /// Bytes that were received and not handled.
    private var unread = 0
    /// There may be lines in that which can be handled.
    private var hasLines = false
    private var handledLines = 0
    private var isHandling = false
    private var isResumeDue = false
    /// Bytes that the kernel does not take, once they are more than the window.
    private var waiting = 0
    /// There are answers among them, and not only notification.
    private var owesAnswers = false
    /// Bytes of answers that wait for the others of their batch.
    private var collected = 0
    /// The body of an API answer is to be written as the peer reads.
    private(set) var hasBody = false
    /// How far the peer had read when it was last looked at.
    private var progress: Progress?
    /// How long the peer may still take to read a body.
    private var readingBudget: WaitingBudget?
    /// The most bytes that the peer was seen to have read.
    private var mostRead = 0

    // What has been said already.
    private var isReading = true
    private var isRetired = false
    private var hasOutputEnded = false
    private var isLeaving = false
    private(set) var deadline: Deadline?

    // MARK: What is asked in between

    /// Whether the peer can be told and asked something, and answer.
    var isOpen: Bool { !hasInputEnded && !isDismissed && !isClosed }

    /// Whether the last line counts without an ending; if the daemon has ended the input, it may have lost it by that.
    var isAtEnd: Bool { hasInputEnded && !isDraining }

    /// More waits for the peer than it may leave unread.
    var isBlocked: Bool { waiting > 0 }

    /// The bytes that are kept here for this connection; the answers within the window are not counted.
    var held: Int { isClosed ? 0 : unread + waiting + collected }

    /// Those of them that it is to blame for: notification that a watcher leaves unread is bounded, and its right.
    var blamed: Int { isClosed ? 0 : unread + (owesAnswers ? waiting : 0) + collected }

    /// Whether a further line may be handled, with so much to be sent already, and so much sent in this turn.
    func mayHandleLine(with unsent: Int, after sent: Int) -> Bool {
        !isDismissed && !isClosed && !isBlocked && unsent <= Self.window && sent < Self.turn
    }

    // MARK: Input

    mutating func received(_ bytes: Int) -> Actions {
        unread += bytes
        return handleUnlessHeldUp()
    }

    /// The peer sends no more, or we have ended its sending.
    mutating func inputEnded() -> Actions {
        hasInputEnded = true
        return handleUnlessHeldUp()
    }

    /// The others have had their turn.
    mutating func resumed() -> Actions {
        isResumeDue = false
        return hasLines ? handleUnlessHeldUp() : consequences()
    }

    /// Lines were handled, until there was none, or until `mayHandleLine` said no.
    ///
    /// - Parameters:
    ///   - lines: how many.
    ///   - rest: the bytes that are left…
    ///   - mayHoldLines: …and whether there may be whole lines among them.
    mutating func handled(_ lines: Int, rest: Int, mayHoldLines: Bool) -> Actions {
        isHandling = false
        handledLines += lines
        unread = rest
        hasLines = mayHoldLines && rest > 0
        return consequences()
    }

    private mutating func handleUnlessHeldUp() -> Actions {
        guard !isDismissed, !isClosed, unread > 0 else { return consequences() }
        hasLines = true
        guard !isBlocked, !isResumeDue, !isHandling else { return consequences() }
        isHandling = true
        return .handleLines
    }

    // MARK: Answers

    mutating func requestBegan() { unanswered += 1 }

    mutating func requestEnded() -> Actions {
        unanswered -= 1
        return consequences()
    }

    /// So many bytes wait at the network library, if they are more than the window; otherwise none.
    ///
    /// - Parameter owesAnswers: whether the peer has asked for any of them.
    mutating func waits(_ bytes: Int, owesAnswers: Bool) -> Actions {
        (waiting, self.owesAnswers) = (bytes, owesAnswers)
        return consequences()
    }

    /// Whether the body of an API answer is to be written as the peer reads.
    mutating func bodyWaits(_ hasBody: Bool) -> Actions {
        // A body has all of its time from when it came.
        if hasBody, !self.hasBody { readingBudget = nil }
        self.hasBody = hasBody
        return consequences()
    }

    /// So many bytes more, or less, wait for the others of their batch.
    mutating func collected(_ bytes: Int) {
        collected += bytes
    }

    // MARK: The end

    /// The daemon ends: what has arrived is still answered.
    mutating func drainBegan() -> Actions {
        isDraining = !hasInputEnded
        return isOpen ? .shutInput : []
    }

    /// The peer is served no longer. What it asked is answered; then it sees the end, and is given a moment to go.
    ///
    /// A connection with unread input cannot simply be closed: the peer would get a reset in place of the reason. So input
    /// is read and dropped until the peer has gone.
    mutating func dismissed() -> Actions {
        isDismissed = true
        return consequences()
    }

    /// The same for a peer whose lines cannot be told apart any more: it is given the moment at once.
    mutating func cutShort() -> Actions {
        isCutShort = true
        return dismissed()
    }

    /// The user has more waiting here than it may, and this connection is the one to go; never one that holds no more than it
    /// has to.
    mutating func overBudget() -> Actions {
        guard blamed > Self.window else { return [] }
        // Who does not read would not read the reason either.
        guard !isBlocked, collected <= Self.window else { return .close }
        guard !isDismissed else { return [] }
        return dismissed().union(.sayTooMuch)
    }

    /// The time of `deadline` is over.
    ///
    /// - Parameters:
    ///   - progress: how far the peer has read by now.
    ///   - time: how long it was waited for.
    mutating func deadlinePassed(_ progress: Progress, after time: Duration) -> Actions {
        switch deadline {
        case nil: return []
        case .farewell: return .close
        case .line: return dismissed().union(.sayLineTooSlow)
        case .reading:
            let read = max(0, progress.read - mostRead)
            mostRead += read
            guard let before = self.progress else {
                (self.progress, readingBudget) = (progress, WaitingBudget(time))
                return .rearm
            }
            // A body takes up space that others wait for: a little progress is not enough.
            if readingBudget == nil {
                readingBudget = WaitingBudget(time)
            } else if hasBody {
                readingBudget?.waited(time, for: read)
            }
            guard progress != before, readingBudget?.isSpent != true else { return .close }
            self.progress = progress
            return .rearm
        }
    }

    mutating func closed() -> Actions {
        isClosed = true
        defer { deadline = nil }
        guard !isRetired else { return deadline == nil ? [] : .rearm }
        isRetired = true
        return deadline == nil ? .retire : [.retire, .rearm]
    }

    // MARK: The look at the whole

    private mutating func consequences() -> Actions {
        // Whoever handles lines reports when that is over; until then its memory is in use.
        guard !isClosed, !isHandling else { return [] }
        return forgetting().union(retirement()).union(reading()).union(leaving()).union(rearming())
    }

    private mutating func forgetting() -> Actions {
        guard isDismissed, unread > 0 else { return [] }
        (unread, hasLines) = (0, false)
        return .forgetInput
    }

    private mutating func retirement() -> Actions {
        guard !isOpen, !isRetired else { return [] }
        isRetired = true
        return .retire
    }

    private mutating func reading() -> Actions {
        var actions: Actions = []
        if hasLines, !isBlocked, !isResumeDue {
            isResumeDue = true
            actions.insert(.resumeSoon)
        }
        guard !hasInputEnded else { return actions }
        let shallRead = isDismissed || (!hasLines && !isBlocked)
        if shallRead != isReading {
            isReading = shallRead
            actions.insert(shallRead ? .read : .pause)
        }
        return actions
    }

    private mutating func leaving() -> Actions {
        guard unanswered == 0, !hasLines else { return [] }
        if hasInputEnded, !isLeaving {
            isLeaving = true
            return .closeWhenWritten
        }
        if isDismissed, !hasOutputEnded, !isLeaving {
            hasOutputEnded = true
            return .endOutput
        }
        return []
    }

    private var due: Deadline? {
        if isCutShort { return .farewell }
        if hasBody || (isBlocked && owesAnswers) { return .reading }
        if hasOutputEnded { return .farewell }
        if isLeaving { return .reading }
        return unread > 0 && !hasLines && !hasInputEnded ? .line(after: handledLines) : nil
    }

    private mutating func rearming() -> Actions {
        let due = due
        guard due != deadline else { return [] }
        (deadline, progress, readingBudget) = (due, nil, nil)
        return .rearm
    }
}
