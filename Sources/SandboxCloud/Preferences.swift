import Synchronization

/// The settings that are in force now.
final class Preferences: Sendable {
    private let initial: Settings
    private let current: Mutex<Settings>
    private let bell: Bell

    init(_ settings: Settings, bell: Bell) {
        self.bell = bell
        initial = settings
        current = Mutex(settings)
    }

    var settings: Settings { current.withLock { $0 } }

    func change(_ body: (inout Settings) -> Void) {
        current.withLock { body(&$0) }
        bell.ring()
    }

    func reset() {
        current.withLock { $0 = initial }
        bell.ring()
    }
}
