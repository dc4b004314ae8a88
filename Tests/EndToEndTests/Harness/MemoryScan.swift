import Foundation
import JunctionTesting

/// Searches the memory of a running process for secrets, both in used and in freed memory.
///
/// Only root may read the daemon's memory.
struct MemoryScan {
    static let isPossible = geteuid() == 0

    let process: Int32

    func count(of secrets: [String]) throws -> [Int] {
        let memory = try bytes()
        return secrets.map { secret in memory.reduce(0) { $0 + Self.places(of: secret, in: $1).count } }
    }

    /// Returns the number of different texts that start with the prefix and continue like a token of the sandbox.
    func count(ofTokens prefix: String) throws -> Int {
        var found: Set<Data> = []
        for piece in try bytes() {
            for place in Self.places(of: prefix, in: piece) {
                let digits = piece.dropFirst(place + prefix.utf8.count).prefix(64)
                let isToken = digits.count == 64 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
                if isToken { found.insert(digits) }
            }
        }
        return found.count
    }

    /// Reads the writable memory of the process.
    private func bytes() throws -> [Data] {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw TestFailure(description: "The memory of \(process) cannot be read") }
        defer { close(memory) }
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        return maps.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = parts[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard parts[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            var piece = Data(count: Int(ends[1] - ends[0]))
            let read = piece.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, off_t(ends[0])) }
            return read > 0 ? piece.prefix(read) : nil
        }
    }

    private static func places(of text: String, in piece: Data) -> [Int] {
        let needle = Array(text.utf8)
        return piece.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            var places: [Int] = []
            var start = 0
            while let found = memchr(base + start, Int32(needle[0]), bytes.count - start) {
                let place = UnsafeRawPointer(found) - base
                guard place + needle.count <= bytes.count else { break }
                if memcmp(found, needle, needle.count) == 0 { places.append(place) }
                start = place + 1
            }
            return places
        }
    }
}
