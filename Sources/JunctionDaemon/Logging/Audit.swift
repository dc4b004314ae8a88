import JunctionProtocol
import JunctionServer
import Logging

/// Writes a log line for each action of a caller. The caller's identity comes from the kernel, never from the message.
final class Audit: ServerObserver {
    private let logger: Logger
    private let trail: AuditTrail

    /// - Parameter trail: writes the lines. It merges actions that come by the thousand.
    init(logger: Logger, trail: AuditTrail) {
        self.logger = logger
        self.trail = trail
    }

    func happened(_ act: CallerAct, by peer: Peer?) {
        if case .tokenHandedOut = act, logger.logLevel > .info { return }
        trail.note(AuditedAct(kind: act, caller: peer.map(AuditedCaller.init)))
    }
}

/// The identity of the caller.
struct AuditedCaller: Hashable, Sendable {
    var user: UInt32
    var process: Int32
    var unit: String?

    var values: [LogKey: Logger.MetadataValue] {
        var values: [LogKey: Logger.MetadataValue] = [.peerUid: "\(user)", .peerPid: "\(process)"]
        if let unit { values[.peerUnit] = "\(unit)" }
        return values
    }
}

extension AuditedCaller {
    init(_ peer: Peer) {
        self.init(user: peer.user, process: peer.process, unit: peer.unit)
    }
}

/// An action of a caller, or the refusal of one.
struct AuditedAct: Hashable, Sendable {
    var kind: CallerAct
    /// Nil if the kernel does not say who connected.
    var caller: AuditedCaller?
}

extension AuditTrail.Line {
    func log(to logger: Logger) {
        var values = act.caller?.values ?? [:]
        if count > 1 { values[.count] = "\(count)" }
        switch act.kind {
        case .tokenHandedOut(let generation):
            values[.generation] = "\(generation)"
            logger.info("Handed out an access token", metadata: .of(.tokenServed, values))
        case .signedIn:
            logger.notice("A caller signed a user in", metadata: .of(.signedIn, values))
        case .signedOut:
            logger.notice("A caller signed the user out", metadata: .of(.signedOut, values))
        case .refused(let method, let capability):
            values[.method] = "\(method.name)"
            values[.capability] = "\(capability.rawValue)"
            logger.warning("Refused a caller", metadata: .of(.refused, values))
        case .signInRefused(let message):
            values[.error] = "\(message)"
            logger.warning("Refused a sign-in", metadata: .of(.signInFailed, values))
        case .credentialRefused(let name, let message):
            if let name { values[.credential] = "\(name)" }
            values[.error] = "\(message)"
            logger.warning("Refused a credential", metadata: .of(.refused, values))
        case .turnedAway:
            logger.warning("Turned a connection away", metadata: .of(.refused, values))
        }
    }
}
