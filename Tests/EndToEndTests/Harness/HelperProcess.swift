import Foundation
import Glibc
import JunctionTesting

/// A network helper process of a daemon.
struct HelperProcess {
    var identifier: pid_t

    func signal(_ number: Int32) {
        kill(identifier, number)
    }

    /// Waits until the process has ended. It need not be a child of the test.
    func awaitEnd() {
        while let state = Self.fields(of: identifier)?[2], !["Z", "X"].contains(state) { sched_yield() }
    }

    /// Returns the fields of `/proc/PID/stat`: pid, (name), state, parent, and so on.
    static func fields(of process: pid_t) -> [String]? {
        guard let line = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return nil }
        let fields = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        return fields.count > 4 ? fields : nil
    }
}

extension Installation {
    /// Returns the only network helper of the daemon. Throws if there is another number of them.
    func helper() throws -> HelperProcess {
        let helpers = try helpers()
        guard helpers.count == 1 else {
            throw TestFailure(description: "The daemon has \(helpers.count) helpers instead of one")
        }
        return helpers[0]
    }

    /// Returns the network helpers of the daemon: one for the session, one for API calls.
    func helpers() throws -> [HelperProcess] {
        guard let daemon else { throw TestFailure(description: "There is no daemon") }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
            guard let identifier = pid_t(name), let fields = HelperProcess.fields(of: identifier),
                fields[1].hasPrefix("(junctiond-cour"), !["Z", "X"].contains(fields[2]),
                fields[3] == "\(daemon.identifier)"
            else { return nil }
            return HelperProcess(identifier: identifier)
        }
    }
}
