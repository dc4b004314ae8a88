import Dispatch
import JunctionSystemd
import Synchronization

/// Log lines on their way out, on a thread of their own: whoever reads them may be slow, or have stopped, and nobody who logs
/// is to wait for that.
///
/// They go out in the order in which they were put. What does not fit is lost, and how much that was is said in its place.
final class LogQueue: Sendable {
    /// As much as some ten thousand lines.
    static let capacity = 1 << 20

    private let backlog = Backlog()
    private let thread: WaitingThread

    /// - Parameters:
    ///   - write: writes one entry, and may take as long as it likes.
    ///   - noteLoss: writes that so many were lost.
    init(
        write: @escaping @Sendable (LogEntry) -> Void,
        noteLoss: @escaping @Sendable (Int) -> Void
    ) throws(SystemFailure) {
        thread = try WaitingThread { [backlog] in
            while let page = backlog.next() {
                for entry in page.entries { write(entry) }
                if page.lost > 0 { noteLoss(page.lost) }
            }
            backlog.isEmpty.signal()
        }
    }

    /// Takes an entry along, and never waits.
    func put(_ entry: LogEntry) { backlog.put(entry) }

    /// Takes nothing more, and returns when everything has been written, or when that takes too long.
    @discardableResult
    func close(within patience: Duration) -> Bool {
        guard backlog.close() else { return true }
        let deadline = DispatchTime.now() + .milliseconds(Int(patience / .milliseconds(1)))
        guard backlog.isEmpty.wait(timeout: deadline) == .success else { return false }
        thread.join()
        return true
    }

    deinit { close(within: .seconds(1)) }
}

/// What waits to be written.
private final class Backlog: Sendable {
    /// Entries, and how many came after them that did not fit.
    struct Page {
        var entries: [LogEntry] = []
        var size = 0
        var lost = 0

        var isEmpty: Bool { entries.isEmpty && lost == 0 }
    }

    private struct State {
        var page = Page()
        var isClosed = false
    }

    /// Everything has been written, and nothing more will come.
    let isEmpty = DispatchSemaphore(value: 0)
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    func put(_ entry: LogEntry) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            let wasEmpty = state.page.isEmpty
            // Once one is lost, so are those behind it, until there is space: the note stands where they are missing.
            if state.page.lost > 0 || state.page.size + entry.size > LogQueue.capacity {
                state.page.lost += 1
            } else {
                state.page.entries.append(entry)
                state.page.size += entry.size
            }
            return wasEmpty
        }
        if isFirst { arrival.signal() }
    }

    /// Waits for what is to be written next; nothing at the end.
    func next() -> Page? {
        while true {
            let (page, isClosed) = state.withLock { state in
                defer { state.page = Page() }
                return (state.page, state.isClosed)
            }
            if !page.isEmpty { return page }
            if isClosed { return nil }
            arrival.wait()
        }
    }

    /// Returns whether it was open.
    func close() -> Bool {
        let wasOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        arrival.signal()
        return wasOpen
    }
}
