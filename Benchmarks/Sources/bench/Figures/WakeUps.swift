import Glibc

/// The wake-ups of an idle daemon, each of which costs battery.
struct WakeUps: Figure {
    static let name = "wake-ups"

    func measure(_ lab: Lab) throws -> [Row] {
        let seconds: UInt32 = lab.options.isQuick ? 10 : 60
        var before = Row("wake-ups of the idle daemon in \(seconds) s, no session", target: "0")
        var after = Row("… after a renewal, helper gone", target: "0 but the alarm")

        // All of them idle during the same minute.
        let bare = try BareServer(lab)
        let peers = lab.peers()
        let fresh = lab.freshDaemon()
        let renewed = lab.signedInDaemon()
        try renewed?.connect().call("session.renew")
        // The end of the helper, half a minute after the renewal, is one wake-up. The measurement starts after it.
        if !lab.options.isQuick { renewed?.waitUntilHelperIsGone() }
        sleep(3)

        let everybody =
            [bare.process.id] + peers.flatMap(\.processes) + [fresh, renewed].flatMap { $0?.processes ?? [] }
        let start = try ProcessFacts.switches(of: everybody)
        sleep(seconds)
        func wakeUps(_ processes: [Int32], _ name: String) throws -> Int {
            try ProcessFacts.switches(of: processes).reduce(0) { sum, thread in
                let count = thread.value.count - (start[thread.key]?.count ?? 0)
                if count > 0 { lab.note("wake-ups: \(name), thread \(thread.value.name): \(count)") }
                return sum + count
            }
        }

        before.bareServer = try wakeUps([bare.process.id], "C server").text
        before.peers = try peers.map { ($0.name, try wakeUps($0.processes, $0.name).text) }.peerText
        if let fresh {
            let count = try wakeUps(fresh.processes, "junctiond")
            before.junctiond = count.text
            before.judge(count == 0)
        }
        if let renewed {
            let count = try wakeUps(renewed.processes, "junctiond after a renewal")
            after.junctiond = count.text
            after.judge(count == 0)
        }
        return [before, after]
    }
}
