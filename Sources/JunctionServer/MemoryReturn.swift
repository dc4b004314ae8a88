import CLinux
import NIOCore

/// Returns memory to the kernel a moment after many connections were closed.
///
/// The C library never returns memory that was freed in small pieces. Without this, the process would stay large after
/// ten thousand watchers have gone. The timer runs only after such a burst.
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
        eventLoop.scheduleTask(in: Self.delay) { memory.value.returnMemory() }
    }

    private func returnMemory() {
        (closed, isDue) = (0, false)
        _ = clinux_return_memory()
    }
}
