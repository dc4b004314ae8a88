import Glibc

/// Something that ends a wait before its time.
package struct Interruption: Sendable {
    let descriptor: Int32
    let events: Int16
    /// Kept so that the descriptor stays open.
    private let bell: Bell?

    private init(descriptor: Int32, events: Int32, bell: Bell?) {
        self.descriptor = descriptor
        self.events = Int16(events)
        self.bell = bell
    }

    /// The bell rings.
    static func ringing(_ bell: Bell) -> Interruption {
        Interruption(descriptor: bell.descriptor, events: POLLIN, bell: bell)
    }

    /// There is something to read from a descriptor, which its owner keeps open.
    package static func readable(_ descriptor: Int32) -> Interruption {
        Interruption(descriptor: descriptor, events: POLLIN, bell: nil)
    }

    /// Nobody reads any more what this program prints. Without it, `junctionctl watch | head -1` would stay until
    /// the session changes, which may take a week.
    package static let outputClosed = Interruption(descriptor: STDOUT_FILENO, events: 0, bell: nil)
}
