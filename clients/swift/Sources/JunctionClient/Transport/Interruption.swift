import Glibc

/// An event that ends a wait early.
package struct Interruption: Sendable {
    let descriptor: Int32
    let events: Int16
    /// Kept so that the descriptor stays open.
    private let wakeUp: WakeUpDescriptor?

    private init(descriptor: Int32, events: Int32, wakeUp: WakeUpDescriptor?) {
        self.descriptor = descriptor
        self.events = Int16(events)
        self.wakeUp = wakeUp
    }

    /// Makes an interruption that comes when the descriptor is readable.
    static func ringing(_ wakeUp: WakeUpDescriptor) -> Interruption {
        Interruption(descriptor: wakeUp.descriptor, events: POLLIN, wakeUp: wakeUp)
    }

    /// Makes an interruption that comes when the descriptor is readable. Its owner keeps the descriptor open.
    package static func readable(_ descriptor: Int32) -> Interruption {
        Interruption(descriptor: descriptor, events: POLLIN, wakeUp: nil)
    }

    /// The interruption that comes when the reader of standard output has gone. Without it, `junctionctl watch | head
    /// -1` would run until the session changes, which may take a week.
    package static let outputClosed = Interruption(descriptor: STDOUT_FILENO, events: 0, wakeUp: nil)
}
