import CLinux
import Glibc

/// Who is at the other end of a connection, as the kernel knows it; nothing of it comes from a message.
package struct Peer: Equatable, Sendable {
    /// The effective user id of whoever connected.
    package let user: UInt32
    /// The primary group and every supplementary one.
    package let groups: Set<UInt32>
    /// The process that connected.
    package let process: Int32
    /// Whether one of the groups is the group of the socket's file.
    package let isInSocketGroup: Bool
    /// The system unit of the process, where an access rule asks for one.
    package internal(set) var unit: Unit?

    /// A unit, and which run of the process id it was looked up for.
    package struct Unit: Equatable, Sendable {
        /// The name as the service manager knows it.
        package let name: String
        let processStart: UInt64
    }

    /// Describes a peer by hand, for tests.
    package init(user: UInt32, groups: Set<UInt32>, process: Int32, isInSocketGroup: Bool = false) {
        self.user = user
        self.groups = groups
        self.process = process
        self.isInSocketGroup = isInSocketGroup
    }

    /// Asks the kernel who has connected.
    init(of socket: Int32, socketGroup: UInt32?) throws(PeerUnknown) {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
        let code = clinux_peer_credentials(socket, &process, &user, &group)
        guard code == 0 else { throw PeerUnknown(code: code) }
        let groups = try Self.groups(of: socket).union([group])
        self.init(
            user: user,
            groups: groups,
            process: process,
            isInSocketGroup: socketGroup.map(groups.contains) ?? false
        )
    }

    private static func groups(of socket: Int32) throws(PeerUnknown) -> Set<UInt32> {
        var groups = [UInt32](repeating: 0, count: 32)
        while true {
            var count = groups.count
            let code = clinux_peer_groups(socket, &groups, &count)
            if code == 0 { return Set(groups.prefix(count)) }
            // The kernel has said how many there are.
            guard code == ERANGE, count > groups.count else { throw PeerUnknown(code: code) }
            groups = [UInt32](repeating: 0, count: count)
        }
    }
}

/// The kernel does not say who a peer is: the peer gets nothing.
struct PeerUnknown: Error {
    let code: Int32
}

// The unit is found by the process id, and a process id may be used again. So the start time of the process is read
// before and after the look-up, and again whenever the unit decides something. What remains: a process that dies
// between connecting and the look-up, and whose id goes to a process of the other unit in that very moment.
extension Peer {
    /// Looks up the unit of the peer's process.
    mutating func findUnit(_ unitOfProcess: (Int32) -> String?) {
        unit = nil
        guard let start = processStart(of: process), let name = unitOfProcess(process) else { return }
        if processStart(of: process) == start { unit = Unit(name: name, processStart: start) }
    }

    /// Whether the process that the unit was looked up for is still there.
    var isUnitCurrent: Bool {
        guard let unit else { return false }
        return processStart(of: process) == unit.processStart
    }
}

/// When a process was started, in clock ticks since boot: the 22nd field of `/proc/PID/stat`.
private func processStart(of process: Int32) -> UInt64? {
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 1) { room in
        let count = read(descriptor, room.baseAddress, room.count)
        guard count > 0 else { return nil }
        // The second field is the program's name in parentheses, which may hold spaces and parentheses itself.
        let line = room[..<count]
        guard let name = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[line.index(after: name)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }
}
