import Glibc

/// The memory of an idle daemon: fresh, after a renewal over TLS, and after a burst of connections.
struct Memory: Figure {
    static let name = "memory"

    private static let burst = 1_000

    func measure(_ lab: Lab) throws -> [Row] {
        var fresh = Row("idle memory after start, RSS / PSS / private dirty MB", target: "≤ 13 / 10.5 / 1.5")
        var renewed = Row("… after a renewal over TLS, helper gone", target: "≤ 13 / 10.5 / 1.5")
        var calmed = Row("… 5 s after a burst of \(Self.burst.text) connections", target: "back (+1 MB dirty)")

        let bare = try BareServer(lab)
        fresh.bareServer = text(try ProcessFacts.memory(of: [bare.process.id]))
        fresh.peers = try lab.peers().map { peer in
            (name: peer.name, text: text(try ProcessFacts.memory(of: peer.processes)))
        }.peerText
        try bare.exchange("session.status").burst(connections: Self.burst)
        calmed.bareServer = text(try ProcessFacts.memory(of: [bare.process.id]))

        // The pages of a program that was just built are dirty, and would count as the daemon's memory.
        sync()
        if let daemon = lab.freshDaemon() {
            sleep(2)
            let memory = try ProcessFacts.memory(of: daemon.processes)
            fresh.junctiond = text(memory)
            fresh.judge(memory.isWithin(13, 10.5, 1.5))
        }
        if let daemon = lab.signedInDaemon(tls: true) {
            try daemon.connect().call("session.renew")
            if !lab.options.isQuick { daemon.waitUntilHelperIsGone() }
            sleep(2)
            let before = try ProcessFacts.memory(of: daemon.processes)
            renewed.junctiond = text(before)
            renewed.judge(before.isWithin(13, 10.5, 1.5))

            try daemon.exchange("session.status").burst(connections: Self.burst)
            sleep(5)
            let after = try ProcessFacts.memory(of: daemon.processes)
            calmed.junctiond = text(after)
            calmed.judge(after.privateDirty <= before.privateDirty + 1_000)
        }
        return [fresh, renewed, calmed]
    }

    private func text(_ memory: ProcessFacts.Memory) -> String {
        [memory.resident, memory.proportional, memory.privateDirty].map { (Double($0) / 1_000).text }
            .joined(separator: " / ")
    }
}

extension ProcessFacts.Memory {
    fileprivate func isWithin(_ resident: Double, _ proportional: Double, _ privateDirty: Double) -> Bool {
        Double(self.resident) <= resident * 1_000 && Double(self.proportional) <= proportional * 1_000
            && Double(self.privateDirty) <= privateDirty * 1_000
    }
}
