import CLinux
import Glibc
package import JunctionSession

/// The process at the other end of a connection, as the kernel describes it. No value comes from a message.
package struct Peer: Equatable, Sendable {
    /// The id that the kernel reports for every user and group that the daemon's user namespace does not map. In Debian
    /// it is also the id of the user `nobody`. So it names no caller reliably, and no right depends on it.
    package static let unmapped: UInt32 = 65_534

    package let user: UInt32
    /// The primary group and all supplementary groups.
    package let groups: Set<UInt32>
    /// The process that connected.
    package let process: Int32
    /// Whether one of the groups is the group of the socket file.
    package let isInSocketGroup: Bool
    /// The system unit of the process, as far as it is known.
    package internal(set) var membership = UnitMembership.unknown
    /// Whether this is the service manager, which loads a credential for the unit of `membership`. The peer then has
    /// the rights of that unit, not those of root.
    private(set) var actsForUnit = false
    /// A handle of the process. `findUnit` sets it.
    private var handle: ProcessHandle?

    /// The name of the process's system unit; `nil` if the process is in none or the unit is not known.
    package var unit: String? {
        if case .inUnit(let name) = membership { name } else { nil }
    }

    /// Makes a peer from given values, for tests.
    package init(user: UInt32, groups: Set<UInt32>, process: Int32, isInSocketGroup: Bool = false) {
        self.user = user
        self.groups = groups
        self.process = process
        self.isInSocketGroup = isInSocketGroup
    }

    /// Gets the peer's credentials from the kernel.
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
            isInSocketGroup: Self.isSocketGroup(socketGroup, among: groups)
        )
    }

    static func isSocketGroup(_ socketGroup: UInt32?, among groups: Set<UInt32>) -> Bool {
        guard let socketGroup, socketGroup != unmapped else { return false }
        return groups.contains(socketGroup)
    }

    private static func groups(of socket: Int32) throws(PeerUnknown) -> Set<UInt32> {
        var groups = [UInt32](repeating: 0, count: 32)
        while true {
            var count = groups.count
            let code = clinux_peer_groups(socket, &groups, &count)
            if code == 0 { return Set(groups.prefix(count)) }
            // The kernel has set `count` to the number of groups.
            guard code == ERANGE, count > groups.count else { throw PeerUnknown(code: code) }
            groups = [UInt32](repeating: 0, count: count)
        }
    }
}

/// The kernel does not provide the credentials of a peer. Such a peer gets no rights.
struct PeerUnknown: Error {
    let code: Int32
}

// The unit is found by process id, and the kernel may reuse a process id. So the process is opened before the look-up:
// as long as it has not ended afterwards, the id still belongs to it, and the found unit is its unit.
extension Peer {
    /// Looks up the unit of the process that connected, unless it is known. If the look-up fails, the unit stays
    /// unknown.
    ///
    /// - Parameter isNew: whether the connection was just accepted. A kernel before 6.5 cannot say later which process
    ///   connected, and another process may have the number by then.
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

    /// Whether the process that connected is known and has not ended.
    var isProcessThere: Bool { handle?.hasEnded == false }
}

extension Peer {
    /// Gives the service manager the rights of the unit that it loads a credential for.
    mutating func load(for unit: String) { (membership, actsForUnit) = (.inUnit(unit), true) }
}

extension LocalCaller {
    init(_ peer: Peer) { self.init(user: peer.user, groups: peer.groups, membership: peer.membership) }
}

extension Peer {
    /// Makes the peer of a caller from before the daemon restarted. Its process and connection no longer exist.
    init(_ caller: LocalCaller) {
        self.init(user: caller.user, groups: caller.groups, process: 0)
        membership = caller.membership
    }
}
