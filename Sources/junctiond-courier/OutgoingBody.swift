import JunctionSecret

/// What has arrived of a request's body and has not left yet.
struct OutgoingBody {
    private var parts: [SharedSecret] = []
    private var taken = 0
    private var hasEnded = false

    /// Nothing is left and nothing will come.
    var isComplete: Bool { hasEnded && parts.isEmpty }

    mutating func append(_ part: SharedSecret) {
        if part.count > 0, !hasEnded { parts.append(part) }
    }

    mutating func end() {
        hasEnded = true
    }

    /// Moves as much as there is space for.
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
