package import JunctionSession
import Synchronization

/// An observer that records everything and can pass on snapshots.
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

    /// Sets a function that receives each later snapshot on the executor of the owner.
    package func onChange(_ body: @escaping @Sendable (Snapshot) -> Void) {
        state.withLock { $0.onChange = body }
    }

    package var snapshots: [Snapshot] { state.withLock { $0.snapshots } }
    package var events: [SessionEvent] { state.withLock { $0.events } }
    package var steps: [RotationStep] { state.withLock { $0.steps } }
}
