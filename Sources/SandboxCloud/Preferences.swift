import Synchronization

/// The settings that are in force now.
final class Preferences: Sendable {
    private let initial: Settings
    private let current: Mutex<Settings>

    init(_ settings: Settings) {
        initial = settings
        current = Mutex(settings)
    }

    var settings: Settings { current.withLock { $0 } }

    func change(_ body: (inout Settings) -> Void) {
        current.withLock { body(&$0) }
    }

    func reset() {
        current.withLock { $0 = initial }
    }
}
