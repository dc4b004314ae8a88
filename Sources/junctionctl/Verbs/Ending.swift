import ArgumentParser
import JunctionClient
import JunctionProtocol

extension ParsableArguments {
    /// Ends with an exit code that needs no error message.
    func end(_ status: ExitStatus) throws {
        if status != .done { throw ExitCode(status.rawValue) }
    }

    func requireSeconds(_ seconds: Double, _ option: String) throws {
        guard seconds >= 0, seconds.isFinite else {
            throw ValidationError("\(option) takes a number of seconds, zero or more")
        }
    }
}

extension Snapshot {
    /// Warns that the session ends because no session handler can renew it, if that is so.
    func warnOfMissingHandler() {
        guard let finding = SessionFindings(self, now: .now).missingHandler else { return }
        StandardError.note([finding.detail, finding.remedy].compactMap(\.self).joined(separator: " "))
    }

    /// Throws if the new state is not on disk.
    func requireDurable(_ consequence: String) throws {
        guard !storage.durable else { return }
        throw CommandFailure(
            consequence,
            kind: "notDurable",
            remedy: "'junctionctl doctor' says why the daemon cannot write, such as a full disk; it keeps trying",
            status: .temporary
        )
    }
}
