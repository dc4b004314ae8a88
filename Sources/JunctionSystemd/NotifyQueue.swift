import Dispatch
import Glibc
import JunctionNotify
import Synchronization

/// Queues the messages that stay true until others replace them, and that the service manager must receive. If it is
/// too busy, the queue sends them when it reads again, except those that were replaced meanwhile.
final class NotifyQueue: Sendable {
    private let socket: NotifySocket
    private let state = Mutex(State())

    private struct State {
        var unsent = Unsent()
        /// Whether a thread waits until the service manager has space.
        var isAwaited = false
    }

    init(_ socket: NotifySocket) {
        self.socket = socket
    }

    /// Sends the messages after those that are still queued.
    func tell(_ news: [ServiceManagerMessage]) -> Notifier.Delivery {
        state.withLock { state in
            state.unsent.add(news)
            // The waiting thread also sends these messages.
            guard !state.isAwaited else { return .congested }
            let delivery = send(&state.unsent)
            if delivery == .congested {
                state.isAwaited = true
                waitForRoom()
            }
            return delivery
        }
    }

    private func send(_ unsent: inout Unsent) -> Notifier.Delivery {
        var last = Notifier.Delivery.sent
        while let message = unsent.first {
            last = socket.send(message)
            if last == .congested { return last }
            // A failed message would fail again.
            unsent.removeFirst()
        }
        return last
    }

    /// Waits on a thread until the service manager has space. The queue is private because a global one starts a
    /// monitor that wakes the process every second for ever.
    private func waitForRoom() {
        DispatchQueue(label: "junctiond.notify").async { [self] in
            var isDone = false
            while !isDone {
                socket.waitForRoom()
                isDone = state.withLock { state in
                    let isDone = send(&state.unsent) != .congested
                    state.isAwaited = !isDone
                    return isDone
                }
            }
        }
    }
}

/// The messages that still have to be sent: at most two, because a new state replaces an old one.
struct Unsent: Equatable {
    /// Sent first and alone: the service manager accepts the `READY=1` that ends a reload only after the reload has
    /// begun.
    private var reloading: [ServiceManagerMessage] = []
    private var state: [ServiceManagerMessage] = []
    private var status: [ServiceManagerMessage] = []
    private var others: [ServiceManagerMessage] = []
    /// Whether `STOPPING=1` was sent or is queued. No state may follow it.
    private var isEnding = false

    var first: [ServiceManagerMessage]? {
        if !reloading.isEmpty { return reloading }
        let rest = state + status + others
        return rest.isEmpty ? nil : rest
    }

    mutating func removeFirst() {
        if reloading.isEmpty { (state, status, others) = ([], [], []) } else { reloading = [] }
    }

    mutating func add(_ news: [ServiceManagerMessage]) {
        if isEnding {
            others = news.filter { !$0.isStanding }
            return
        }
        for item in news {
            switch item {
            // The end of the reload is also sent, and it ends the earlier state.
            case .reloading: (reloading, state) = ([item], [])
            case .ready: state = [item]
            case .stopping: (reloading, state) = ([], [item])
            case .status: status = [item]
            case .alive, .forget: others = [item]
            }
        }
        isEnding = news.contains { if case .stopping = $0 { true } else { false } }
    }
}

extension ServiceManagerMessage {
    /// Whether the message stays true until another one replaces it.
    var isStanding: Bool {
        switch self {
        case .ready, .status, .reloading, .stopping: true
        case .alive, .forget: false
        }
    }
}
