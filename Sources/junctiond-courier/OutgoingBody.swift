import JunctionSecret

/// The part of a request's body that has arrived from the daemon and has not been sent yet.
struct OutgoingBody {
    private var parts: [SharedSecret] = []
    private var taken = 0
    private var hasEnded = false

    /// Whether everything was sent and the daemon has ended the body.
    var isComplete: Bool { hasEnded && parts.isEmpty }

    mutating func append(_ part: SharedSecret) {
        if part.count > 0, !hasEnded { parts.append(part) }
    }

    mutating func end() {
        hasEnded = true
    }

    /// Moves as many bytes as fit.
    mutating func take(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let first = parts.first else { return 0 }
        let count = min(room.count, first.count - taken)
        first.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[taken..<taken + count])) }
        taken += count
        if taken == first.count {
            parts.removeFirst()
            taken = 0
        }
        return count
    }
}
