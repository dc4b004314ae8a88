import Dispatch
import Glibc
import JunctionNotify
import Synchronization

/// The news that stay true until others take their place, and that the service manager may not miss. What it is too busy
/// to take is told when it listens; what has been overtaken by then is not told at all.
final class NotifyQueue: Sendable {
    private let socket: NotifySocket
    private let state = Mutex(State())

    private struct State {
        var unsent = Unsent()
        /// Somebody waits until the service manager has space.
        var isAwaited = false
    }

    init(_ socket: NotifySocket) {
        self.socket = socket
    }

    /// Tells the news behind what has not been told yet.
    func tell(_ news: [ServiceManagerMessage]) -> Notifier.Delivery {
        state.withLock { state in
            state.unsent.add(news)
            // Whoever waits sends this, too.
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
            // What failed will fail again.
            unsent.removeFirst()
        }
        return last
    }

    /// A thread for as long as the service manager is busy. The queue is private because the global ones start a monitor
    /// that wakes the process every second for ever.
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

/// What is still to be told: at most two messages, because a new state takes the place of an old one.
struct Unsent: Equatable {
    /// Goes first and by itself: the service manager takes the `READY=1` that ends a reload only after its beginning.
    private var reloading: [ServiceManagerMessage] = []
    private var state: [ServiceManagerMessage] = []
    private var status: [ServiceManagerMessage] = []
    private var others: [ServiceManagerMessage] = []
    /// The end has been told, or is about to be: nothing that holds comes after it.
    private var isEnding = false

    /// The next message.
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
            // Its end is told, too, and ends whatever was said before.
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
    /// Whether it holds until something else is said.
    var isStanding: Bool {
        switch self {
        case .ready, .status, .reloading, .stopping: true
        case .alive, .forget: false
        }
    }
}
