import CInstruments
import Glibc

/// The processor bindings. A wake-up across processors costs more than a whole request, so every row names its binding.
struct Processors {
    /// The processor of the servers.
    let server: Int32
    /// The processor of the load generator, unless it shares the server's.
    let generator: Int32

    init() {
        let count = Int32(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        server = count - 1
        generator = max(0, count - 2)
    }

    /// One processor for both sides: measures the server's own work.
    func share(with servers: [Int32]) throws {
        try bind([0] + servers, to: server)
    }

    /// One processor for each side: measures what the server can do at most.
    func separate(from servers: [Int32]) throws {
        try bind([0], to: generator)
        try bind(servers, to: server)
    }

    /// No binding: what users will see.
    func roam(_ servers: [Int32]) throws {
        try bind([0] + servers, to: -1)
    }

    private func bind(_ processes: [Int32], to processor: Int32) throws {
        for process in processes {
            try check(instruments_bind(process, processor), "binding process \(process)")
        }
    }
}
