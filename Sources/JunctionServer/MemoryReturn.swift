import CLinux
import NIOCore

/// Gives memory back to the kernel a moment after many connections were closed.
///
/// The C library keeps what was freed in small pieces for ever: ten thousand watchers that have gone would be seen in
/// the size of the process until it ends. There is no timer except after such a burst.
final class MemoryReturn {
    private static let burst = 64
    private static let delay: TimeAmount = .seconds(2)

    private let eventLoop: any EventLoop
    private var closed = 0
    private var isDue = false

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func connectionClosed() {
        closed += 1
        guard closed >= Self.burst, !isDue else { return }
        isDue = true
        let memory = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: Self.delay) { memory.value.giveBack() }
    }

    private func giveBack() {
        (closed, isDue) = (0, false)
        _ = clinux_return_memory()
    }
}
