import CInstruments

/// One change and thousands of watchers: when the first and the last of them receive it, and the cost of each watcher.
struct Watchers: Figure {
    static let name = "watchers"

    static let most = 10_000

    private struct Result {
        /// Milliseconds after the request for the change.
        var first: Double
        var last: Double
        var kilobytesEach: Double

        var text: String { "\(first.text) / \(last.text) ms, \(kilobytesEach.text) kB" }
    }

    func measure(_ lab: Lab) throws -> [Row] {
        let count = min(lab.options.isQuick ? 1_000 : Self.most, lab.descriptors - 200)
        var row = Row(
            "\(count.text) watchers, one sign-out: first / last delivery, memory each",
            target: "≤ 0.8 / 45 ms, ≤ 5 kB"
        )

        let bare = try BareServer(lab)
        let control = try RpcConnection(bare.socket)
        row.bareServer = try measure(count, bare.exchange("session.subscribe"), bare.process.id, control, lab) {}.text

        // The disk has its own figure; here it would blur the start of the deliveries.
        if let daemon = lab.signedInDaemon(stateInMemory: true) {
            let control = try daemon.connect()
            let ours = try measure(count, daemon.exchange("session.subscribe"), daemon.process.id, control, lab) {
                try daemon.signIn(control)
            }
            row.junctiond = ours.text
            row.judge(ours.first <= 0.8, ours.last <= 45, ours.kilobytesEach <= 5)
        }
        return [row]
    }

    /// Signs out several times with this many watchers, and in again between.
    private func measure(
        _ count: Int,
        _ subscription: Exchange,
        _ process: Int32,
        _ control: RpcConnection,
        _ lab: Lab,
        signIn: () throws -> Void
    ) throws -> Result {
        try lab.processors.separate(from: [process])
        defer { try? lab.processors.roam([process]) }
        let before = try ProcessFacts.memory(of: [process])
        var opened: OpaquePointer?
        try subscription.perform { watchers_open($0, UInt32(count), &opened) }
        guard let watchers = opened else { throw Trouble("no watchers") }
        defer { watchers_close(watchers) }
        let after = try ProcessFacts.memory(of: [process])

        let all = try (0..<lab.rounds).map { round in
            if round > 0 { try signIn() }
            return try signOut(before: watchers, control)
        }
        return Result(
            first: all.map(\.first).median / 1_000,
            last: all.map(\.last).median / 1_000,
            kilobytesEach: Double(after.resident - before.resident) / Double(count)
        )
    }

    private func signOut(before watchers: OpaquePointer, _ control: RpcConnection) throws -> deliveries {
        let request = try control.request("session.signOut")
        let sign = #""state":"notLoggedIn""#
        var deliveries = deliveries()
        try check(
            watchers_time_change(watchers, control.descriptor, request, request.count, sign, &deliveries),
            "waiting for the watchers to hear of a sign-out"
        )
        _ = try control.answer(to: "session.signOut")
        return deliveries
    }
}
