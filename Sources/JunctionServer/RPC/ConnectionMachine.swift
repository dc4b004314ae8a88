/// Decides about one JSON-RPC connection: when it is read, when its lines are handled, how long the daemon waits for
/// the peer, and how the connection ends. The machine gets only numbers, no bytes, socket or clock. `Connection`
/// carries out its actions.
///
/// Most events change the state, and then `consequences` derives all actions from the whole state in the same way. So
/// reading, writing, draining and closing cannot contradict each other. Only `handleLines` and some actions of `drainBegan`,
/// `overBudget`, `deadlinePassed` and `closed` are returned by the event itself.
struct ConnectionMachine: Equatable {
    /// While more than this many bytes of answers wait for the peer, none of its lines is handled: a peer that does not
    /// read its answers must not send further requests.
    static let window = 1 << 16
    /// The most bytes that are sent to a peer that reads fast, before other connections get a turn.
    static let turn = 1 << 19

    /// The actions to carry out, in the order of their declaration.
    struct Actions: OptionSet {
        let rawValue: UInt16

        /// Send the error that a line has not ended in time.
        static let sayLineTooSlow = Actions(rawValue: 1 << 0)
        /// Send the error that the user has too much waiting here.
        static let sayTooMuch = Actions(rawValue: 1 << 1)
        /// Wipe input that was received and will not be handled.
        static let forgetInput = Actions(rawValue: 1 << 2)
        /// End subscriptions, the handler registration and questions, because no answer can come.
        static let retire = Actions(rawValue: 1 << 3)
        static let pause = Actions(rawValue: 1 << 4)
        static let read = Actions(rawValue: 1 << 5)
        /// Shut down the input of the socket. Input that has arrived can still be read.
        static let shutInput = Actions(rawValue: 1 << 6)
        /// Handle lines now, and then call `handled`.
        static let handleLines = Actions(rawValue: 1 << 7)
        /// Call `resumed` when other connections have had their turn.
        static let resumeSoon = Actions(rawValue: 1 << 8)
        /// Shut down the output of the socket, after the output that is queued.
        static let endOutput = Actions(rawValue: 1 << 9)
        /// Close when all output has been passed to the kernel.
        static let closeWhenWritten = Actions(rawValue: 1 << 10)
        static let close = Actions(rawValue: 1 << 11)
        /// The value of `deadline` has changed: restart its timer.
        static let rearm = Actions(rawValue: 1 << 12)
    }

    /// What the peer is given time for.
    enum Deadline: Equatable {
        /// To close its side, after all answers and the end of the output were sent.
        case linger
        /// To read its answers. The time restarts while the peer reads some of them. For the body of an API answer, the
        /// peer must read 16 KiB a second (`WaitingBudget`). A peer that receives only notifications has no deadline:
        /// at most the window of them waits.
        case reading
        /// To end the unfinished line. `after`: the number of complete lines before it.
        case line(after: Int)
    }

    /// How far a peer has read, as far as the daemon can see. As long as neither number changes, the peer reads
    /// nothing.
    struct Progress: Equatable {
        /// The bytes that the kernel has taken for the peer since the beginning. The kernel takes no more until the
        /// peer has read most of them, so this number alone does not change for a slow reader.
        var taken = 0
        /// The memory that the kernel uses for unread bytes.
        var kept = 0

        /// The bytes that the peer has read at least. The kernel may take far more at once than a slow peer reads in a
        /// minute.
        var read: Int { max(0, taken - max(0, kept)) }
    }

    private var hasInputEnded = false
    private var isRejecting = false
    private var isCutShort = false
    private var isDraining = false
    private(set) var isClosed = false

    /// Requests whose answers are not known yet.
    private var unanswered = 0
    /// Bytes that were received and not handled.
    private var unread = 0
    /// Whether `unread` may contain lines that can be handled.
    private var hasLines = false
    private var handledLines = 0
    private var isHandling = false
    private var isResumeDue = false
    /// The bytes that the kernel does not take, if they are more than the window; otherwise 0.
    private var waiting = 0
    /// Whether answers are among them, and not only notifications.
    private var owesAnswers = false
    /// Bytes of answers that wait for the other answers of their batch.
    private var collected = 0
    /// Whether the body of an API answer is to be written as the peer reads.
    private(set) var hasBody = false
    /// Bytes of answers that wait for such a body.
    private var behindBody = 0
    /// How far the peer had read at the last check.
    private var progress: Progress?
    /// How long the peer may still take to read a body.
    private var readingBudget: WaitingBudget?
    /// The most bytes that the peer was known to have read.
    private var mostRead = 0

    // The actions that were returned already.
    private var isReading = true
    private var isRetired = false
    private var hasOutputEnded = false
    private var isLeaving = false
    private(set) var deadline: Deadline?

    // MARK: What is asked in between

    /// Whether the peer can receive notifications and questions, and answer.
    var isOpen: Bool { !hasInputEnded && !isRejecting && !isClosed }

    /// Whether the last line counts without a line ending. If the daemon has shut down the input, that may have cut off
    /// the ending.
    var isAtEnd: Bool { hasInputEnded && !isDraining }

    /// Whether more bytes wait for the peer than the window allows.
    var isBlocked: Bool { waiting > 0 }

    /// The bytes that are kept for this connection, without the answers within the window.
    var held: Int { isClosed ? 0 : unread + waiting + collected + behindBody }

    /// The part of `held` that the peer is responsible for. Unread notifications are not part of it: they are bounded,
    /// and a watcher may leave them unread.
    var chargeable: Int { isClosed ? 0 : unread + (owesAnswers ? waiting : 0) + collected + behindBody }

    /// Whether another line may be handled, if `unsent` bytes wait to be sent and `sent` bytes were sent in this turn.
    func mayHandleLine(with unsent: Int, after sent: Int) -> Bool {
        !isRejecting && !isClosed && !isBlocked && unsent <= Self.window && sent < Self.turn
    }

    // MARK: Input

    mutating func received(_ bytes: Int) -> Actions {
        unread += bytes
        return handleUnlessHeldUp()
    }

    /// The peer has ended its output, or the daemon has shut down the input.
    mutating func inputEnded() -> Actions {
        hasInputEnded = true
        return handleUnlessHeldUp()
    }

    /// The other connections have had their turn.
    mutating func resumed() -> Actions {
        isResumeDue = false
        return hasLines ? handleUnlessHeldUp() : consequences()
    }

    /// Lines were handled, until there was none left or `mayHandleLine` was false.
    ///
    /// - Parameters:
    ///   - lines: the number of handled lines.
    ///   - rest: the bytes that are left.
    ///   - mayHoldLines: whether these bytes may contain complete lines.
    mutating func handled(_ lines: Int, rest: Int, mayHoldLines: Bool) -> Actions {
        isHandling = false
        handledLines += lines
        unread = rest
        hasLines = mayHoldLines && rest > 0
        return consequences()
    }

    private mutating func handleUnlessHeldUp() -> Actions {
        guard !isRejecting, !isClosed, unread > 0 else { return consequences() }
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

    /// The number of bytes that SwiftNIO buffers has changed.
    ///
    /// - Parameters:
    ///   - bytes: the bytes, if they are more than the window; otherwise 0.
    ///   - owesAnswers: whether answers are among them.
    mutating func waits(_ bytes: Int, owesAnswers: Bool) -> Actions {
        (waiting, self.owesAnswers) = (bytes, owesAnswers)
        return consequences()
    }

    /// Sets whether the body of an API answer is to be written as the peer reads, and the bytes of answers that wait for
    /// it.
    mutating func bodyWaits(_ hasBody: Bool, bytesBehind: Int) -> Actions {
        // A new body gets the full reading time.
        if hasBody, !self.hasBody { readingBudget = nil }
        (self.hasBody, behindBody) = (hasBody, bytesBehind)
        return consequences()
    }

    /// Changes the bytes that wait for the other answers of their batch.
    mutating func collected(_ bytes: Int) {
        collected += bytes
    }

    // MARK: The end

    /// The daemon ends. Input that has arrived is still answered.
    mutating func drainBegan() -> Actions {
        isDraining = !hasInputEnded
        return isOpen ? .shutInput : []
    }

    /// The daemon stops serving the peer. It answers the pending requests, ends its output, and gives the peer a moment
    /// to close.
    ///
    /// If the daemon closed a connection with unread input, the peer would get a reset instead of the reason. So the
    /// daemon reads and drops input until the peer has closed.
    mutating func rejected() -> Actions {
        isRejecting = true
        return consequences()
    }

    /// Like `rejected`, for a peer whose input can no longer be split into lines: the time to close starts at once.
    mutating func cutShort() -> Actions {
        isCutShort = true
        return rejected()
    }

    /// The user has more waiting here than it may, and this connection is chosen to end. A connection that is charged
    /// with at most `window` bytes is not closed.
    mutating func overBudget() -> Actions {
        guard chargeable > Self.window else { return [] }
        // A peer that does not read would not read the reason either.
        guard !isBlocked, collected + behindBody <= Self.window else { return .close }
        guard !isRejecting else { return [] }
        return rejected().union(.sayTooMuch)
    }

    /// The time of `deadline` is over.
    ///
    /// - Parameters:
    ///   - progress: how far the peer has read by now.
    ///   - time: how long the daemon has waited.
    mutating func deadlinePassed(_ progress: Progress, after time: Duration) -> Actions {
        switch deadline {
        case nil: return []
        case .linger: return .close
        case .line: return rejected().union(.sayLineTooSlow)
        case .reading:
            let read = max(0, progress.read - mostRead)
            mostRead += read
            guard let before = self.progress else {
                (self.progress, readingBudget) = (progress, WaitingBudget(time))
                return .rearm
            }
            // A body occupies space that other answers wait for, so a little progress is not enough.
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

    // MARK: Actions

    private mutating func consequences() -> Actions {
        // While lines are being handled, their memory is in use. `handled` then calls this function again.
        guard !isClosed, !isHandling else { return [] }
        return forgetting().union(retirement()).union(reading()).union(leaving()).union(rearming())
    }

    private mutating func forgetting() -> Actions {
        guard isRejecting, unread > 0 else { return [] }
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
        let shallRead = isRejecting || (!hasLines && !isBlocked)
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
        if isRejecting, !hasOutputEnded, !isLeaving {
            hasOutputEnded = true
            return .endOutput
        }
        return []
    }

    private var due: Deadline? {
        if isCutShort { return .linger }
        if hasBody || (isBlocked && owesAnswers) { return .reading }
        if hasOutputEnded { return .linger }
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
