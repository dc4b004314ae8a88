import Foundation
import Glibc

/// The courier that a daemon started.
struct CourierOfDaemon {
    var identifier: pid_t

    func signal(_ number: Int32) {
        kill(identifier, number)
    }

    /// Waits until it has ended, whoever asks how.
    func awaitEnd() {
        while let state = Self.fields(of: identifier)?[2], !["Z", "X"].contains(state) { sched_yield() }
    }

    /// Number, (name), state, parent, and so on.
    static func fields(of process: pid_t) -> [String]? {
        guard let line = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return nil }
        let fields = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        return fields.count > 4 ? fields : nil
    }
}

extension Installation {
    /// The courier that the daemon has now.
    func courier() throws -> CourierOfDaemon {
        guard let daemon else { throw Program.Failure(description: "There is no daemon") }
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let identifier = pid_t(name), let fields = CourierOfDaemon.fields(of: identifier),
                fields[1].hasPrefix("(junctiond-cour"), fields[2] != "Z", fields[3] == "\(daemon.identifier)"
            else { continue }
            return CourierOfDaemon(identifier: identifier)
        }
        throw Program.Failure(description: "The daemon has no courier")
    }
}
