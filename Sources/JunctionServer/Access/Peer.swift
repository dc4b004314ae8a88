import CLinux
import Glibc
package import JunctionSession

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
    /// What is known of the system unit of the process.
    package internal(set) var membership = UnitMembership.unknown
    /// The process itself, once its unit was looked for.
    private var handle: ProcessHandle?

    /// The system unit of the process, if it is known to be in one.
    package var unit: String? {
        if case .inUnit(let name) = membership { name } else { nil }
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

// The unit is found by the process id, and a process id may be used again. So the process is opened first: while it has not
// ended, its number is its own, and what is found by the number in between is about this process.
extension Peer {
    /// Looks up the unit of the process that connected, unless it is known. What cannot be learnt stays unknown.
    ///
    /// - Parameter isNew: the connection has just been accepted. A kernel before 6.5 cannot say later which process made
    ///   it: the number may be another process's by then.
    mutating func findUnit(
        _ unitOfProcess: (Int32) throws -> String?,
        connectedBy socket: Int32,
        isNew: Bool
    ) {
        guard membership == .unknown else { return }
        handle = handle ?? ProcessHandle(connectedTo: socket, numbered: isNew ? process : nil)
        guard isProcessThere, let found = try? Self.membership(of: process, unitOfProcess) else { return }
        if isProcessThere { membership = found }
    }

    private static func membership(
        of process: Int32,
        _ unitOfProcess: (Int32) throws -> String?
    ) throws -> UnitMembership {
        try unitOfProcess(process).map(UnitMembership.inUnit) ?? .inNone
    }

    /// Whether the process that connected has not ended.
    var isProcessThere: Bool { handle?.hasEnded == false }
}

extension LocalCaller {
    init(_ peer: Peer) { self.init(user: peer.user, groups: peer.groups, membership: peer.membership) }
}

extension Peer {
    /// A caller from before the daemon restarted, whose process and connection are gone.
    init(_ caller: LocalCaller) {
        self.init(user: caller.user, groups: caller.groups, process: 0)
        membership = caller.membership
    }
}
