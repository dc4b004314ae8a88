import Dispatch
import JunctionSystemd
import Synchronization

/// Writes log lines on a thread of its own. The reader of the log may be slow or may have stopped, and the caller must
/// not wait for it.
///
/// The lines keep their order. If the queue is full, new lines are lost, and a line in their place says how many.
final class LogQueue: Sendable {
    /// The size of some ten thousand lines, in bytes.
    static let capacity = 1 << 20

    private let backlog = Backlog()
    private let thread: WaitingThread

    /// - Parameters:
    ///   - write: writes one entry; it may block.
    ///   - noteLoss: writes how many entries were lost.
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

    /// Adds an entry. It never waits.
    func put(_ entry: LogEntry) { backlog.put(entry) }

    /// Takes no more entries, and returns when all entries have been written or the time is over.
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

/// The entries that wait to be written.
private final class Backlog: Sendable {
    /// Entries, and the number of lost entries after them.
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

    /// Signalled when all entries have been written and no more can come.
    let isEmpty = DispatchSemaphore(value: 0)
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    func put(_ entry: LogEntry) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            let wasEmpty = state.page.isEmpty
            // After a lost entry the page takes no more entries, so that the note about the loss is in the right place.
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

    /// Waits for the entries to write next. Returns nil at the end.
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

    /// Returns whether the backlog was open.
    func close() -> Bool {
        let wasOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        arrival.signal()
        return wasOpen
    }
}
