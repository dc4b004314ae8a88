package import JunctionSession
import Synchronization

/// An observer that remembers everything, and passes snapshots on if asked.
package final class RecordingObserver: SessionObserver {
    private let state = Mutex(State())

    private struct State {
        var snapshots: [Snapshot] = []
        var events: [SessionEvent] = []
        var steps: [RotationStep] = []
        var onChange: (@Sendable (Snapshot) -> Void)?
    }

    package init() {}

    package func changed(_ snapshot: Snapshot) {
        let onChange = state.withLock { state in
            state.snapshots.append(snapshot)
            return state.onChange
        }
        onChange?(snapshot)
    }

    package func happened(_ event: SessionEvent) {
        state.withLock { $0.events.append(event) }
    }

    package func reached(_ step: RotationStep) {
        state.withLock { $0.steps.append(step) }
    }

    /// Calls `body` with each further snapshot, on the owner's executor.
    package func onChange(_ body: @escaping @Sendable (Snapshot) -> Void) {
        state.withLock { $0.onChange = body }
    }

    package var snapshots: [Snapshot] { state.withLock { $0.snapshots } }
    package var events: [SessionEvent] { state.withLock { $0.events } }
    package var steps: [RotationStep] { state.withLock { $0.steps } }
}
