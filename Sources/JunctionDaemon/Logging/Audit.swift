import JunctionProtocol
import JunctionServer
import Logging

/// A log line for what callers did, with who asked: by the kernel's word, never the message's.
final class Audit: ServerObserver {
    private let logger: Logger
    private let trail: AuditTrail

    /// - Parameter trail: takes what may come by the thousand.
    init(logger: Logger, trail: AuditTrail) {
        self.logger = logger
        self.trail = trail
    }

    func handedOutToken(to peer: Peer, generation: UInt64) {
        guard logger.logLevel <= .info else { return }
        trail.note(AuditedAct(kind: .tokenHandedOut(generation: generation), caller: Caller(peer)))
    }

    func refused(_ method: Method, to peer: Peer, lacking capability: Capability) {
        trail.note(AuditedAct(kind: .refused(method, lacking: capability), caller: Caller(peer)))
    }

    func turnedAway(_ peer: Peer?) {
        trail.note(AuditedAct(kind: .turnedAway, caller: peer.map(Caller.init)))
    }

    func signedIn(by peer: Peer) {
        logger.notice("A caller signed a user in", metadata: .of(.signedIn, Caller(peer).values))
    }

    func signedOut(by peer: Peer) {
        logger.notice("A caller signed the user out", metadata: .of(.signedOut, Caller(peer).values))
    }
}

/// Who did it.
struct Caller: Hashable, Sendable {
    var user: UInt32
    var process: Int32
    var unit: String?

    var values: [LogKey: Logger.MetadataValue] {
        var values: [LogKey: Logger.MetadataValue] = [.peerUid: "\(user)", .peerPid: "\(process)"]
        if let unit { values[.peerUnit] = "\(unit)" }
        return values
    }
}

extension Caller {
    init(_ peer: Peer) {
        self.init(user: peer.user, process: peer.process, unit: peer.unit)
    }
}

/// What a caller did, or was refused.
struct AuditedAct: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case tokenHandedOut(generation: UInt64)
        case refused(Method, lacking: Capability)
        /// A connection was not let in.
        case turnedAway
    }

    var kind: Kind
    /// Nobody when the kernel does not say who connected.
    var caller: Caller?
}

extension AuditTrail.Line {
    /// Writes the line.
    func log(to logger: Logger) {
        var values = act.caller?.values ?? [:]
        if count > 1 { values[.count] = "\(count)" }
        switch act.kind {
        case .tokenHandedOut(let generation):
            values[.generation] = "\(generation)"
            logger.info("Handed out an access token", metadata: .of(.tokenServed, values))
        case .refused(let method, let capability):
            values[.method] = "\(method.name)"
            values[.capability] = "\(capability.rawValue)"
            logger.warning("Refused a caller", metadata: .of(.refused, values))
        case .turnedAway:
            logger.warning("Turned a connection away", metadata: .of(.refused, values))
        }
    }
}
