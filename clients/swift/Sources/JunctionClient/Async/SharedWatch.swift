import JunctionProtocol
import Synchronization

/// The subscription that all `watch()` loops of one client share, or all its `states()` loops. It runs on one thread as
/// long as there is a loop.
final class SharedWatch: Sendable {
    typealias Updates = AsyncStream<Result<Snapshot, JunctionError>>

    private struct State {
        var loops: [UInt64: Updates.Continuation] = [:]
        var lastLoop: UInt64 = 0
        /// The newest snapshot while the daemon is connected. A new loop begins with it.
        var present: Snapshot?
        /// Ends the present thread. It also distinguishes that thread from one that is about to end.
        var wakeUp: WakeUpDescriptor?
    }

    private let path: SocketPath
    /// The changes that the loops receive.
    let changes: SessionSubscribe.Changes
    private let backoff: Backoff
    private let state = Mutex(State())

    /// Makes a subscription. It connects when there is a loop.
    init(at path: SocketPath, _ changes: SessionSubscribe.Changes, backoff: Backoff = Backoff()) {
        self.path = path
        self.changes = changes
        self.backoff = backoff
    }

    /// Adds a loop. It receives the present snapshot first, if there is one, and then each change. A slow loop receives
    /// only the newest snapshot.
    func updates() -> Updates {
        let (updates, continuation) = Updates.makeStream(bufferingPolicy: .bufferingNewest(1))
        let loop = state.withLock { state in
            state.lastLoop += 1
            return state.lastLoop
        }
        // Set before `join`, because the loop may end during `join`.
        continuation.onTermination = { [weak self] _ in self?.leave(loop) }
        join(loop, continuation)
        return updates
    }

    private func join(_ loop: UInt64, _ continuation: Updates.Continuation) {
        let failure: JunctionError? = state.withLock { state in
            do throws(JunctionError) {
                if state.wakeUp == nil {
                    let wakeUp = try WakeUpDescriptor()
                    try startThread { [self] in run(until: wakeUp) }
                    state.wakeUp = wakeUp
                }
            } catch {
                return error
            }
            state.loops[loop] = continuation
            if let present = state.present { continuation.yield(.success(present)) }
            return nil
        }
        guard let failure else { return }
        continuation.yield(.failure(failure))
        continuation.finish()
    }

    private func leave(_ loop: UInt64) {
        state.withLock { state in
            guard state.loops.removeValue(forKey: loop) != nil, state.loops.isEmpty else { return }
            state.wakeUp?.ring()
            state.wakeUp = nil
            state.present = nil
        }
    }
}

// The part that the thread runs.
extension SharedWatch {
    private func run(until wakeUp: WakeUpDescriptor) {
        let reconnection = Reconnection(to: path, patience: .always, backoff: backoff, unless: .ringing(wakeUp))
        var feed = SnapshotFeed(reconnection, changes)
        do throws(JunctionError) {
            while true {
                let snapshot = try feed.next(connectionEnded: { note(nil, for: wakeUp) }).value
                note(snapshot, for: wakeUp)
            }
        } catch {
            end(error, of: wakeUp)
        }
    }

    private func note(_ snapshot: Snapshot?, for wakeUp: WakeUpDescriptor) {
        state.withLock { state in
            guard state.wakeUp === wakeUp else { return }
            state.present = snapshot
            guard let snapshot else { return }
            for loop in state.loops.values { loop.yield(.success(snapshot)) }
        }
    }

    private func end(_ error: JunctionError, of wakeUp: WakeUpDescriptor) {
        let loops = state.withLock { state in
            guard state.wakeUp === wakeUp else { return [Updates.Continuation]() }
            defer { state = State(lastLoop: state.lastLoop) }
            return Array(state.loops.values)
        }
        // `finish` calls `leave`, which locks the state. So the state is not locked here.
        for loop in loops {
            loop.yield(.failure(error))
            loop.finish()
        }
    }
}
