import CInstruments

/// A repeated request to a server, and the end of its answers.
struct Exchange {
    let socket: String
    let wire: CInstruments.wire
    let request: [UInt8]

    init(_ socket: String, wire: CInstruments.wire, _ request: [UInt8]) {
        self.socket = socket
        self.wire = wire
        self.request = request
    }

    /// A JSON-RPC method without parameters.
    init(_ socket: String, method: String) {
        self.init(socket, wire: wire_line, Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"#.utf8) + [0x0A])
    }

    func roundTrips(_ count: Int) throws -> Timings {
        var timings = timings()
        try perform { instruments_round_trips($0, UInt32(count), &timings) }
        return Timings(timings)
    }

    /// The same request by a process without special rights, in a unit or in none.
    func roundTrips(_ count: Int, from group: UnitGroup?) throws -> Timings {
        // An unprivileged user: a daemon forbids nothing to root.
        let user: UInt32 = 65_534
        var timings = timings()
        try perform { instruments_round_trips_by(group?.path, user, $0, UInt32(count), &timings) }
        return Timings(timings)
    }

    /// Answers per second.
    func throughput(clients: Int, depth: Int, seconds: Double) throws -> Double {
        var rate = 0.0
        try perform { instruments_throughput($0, UInt32(clients), UInt32(depth), UInt32(seconds * 1_000), &rate) }
        return rate
    }

    func burst(connections: Int) throws {
        try perform { instruments_burst($0, UInt32(connections)) }
    }

    func perform(_ body: (UnsafePointer<exchange>) -> Int32) throws {
        let code = socket.withCString { path in
            request.withUnsafeBufferPointer { bytes in
                var order = exchange(
                    path: path,
                    wire: Int32(wire.rawValue),
                    request: bytes.baseAddress,
                    size: bytes.count
                )
                return body(&order)
            }
        }
        try check(code, "asking \(socket)")
    }
}

/// Microseconds.
struct Timings {
    var p50: Double
    var p99: Double

    init(_ timings: timings) {
        p50 = timings.p50
        p99 = timings.p99
    }

    /// The statistics of single times.
    init(_ times: [Double]) {
        (p50, p99) = (times.median, times.percentile(99))
    }

    /// The median of several rounds, for each figure separately.
    init(medianOf rounds: [Timings]) {
        p50 = rounds.map(\.p50).median
        p99 = rounds.map(\.p99).median
    }

    var text: String { "\(p50.text) / \(p99.text)" }
}

extension [Double] {
    var median: Double { percentile(50) }

    func percentile(_ percent: Int) -> Double {
        isEmpty ? .nan : sorted()[Swift.min(count - 1, count * percent / 100)]
    }
}
