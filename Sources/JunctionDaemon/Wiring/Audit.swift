import JunctionProtocol
import JunctionServer
import Logging

/// A log line for what callers did, with who asked: by the kernel's word, never the message's.
struct Audit: ServerObserver {
    let logger: Logger

    func handedOutToken(to peer: Peer) {
        logger.debug("Handed out an access token", metadata: .of(.tokenServed, Self.values(peer)))
    }

    func refused(_ method: Method, to peer: Peer, lacking capability: Capability) {
        var values = Self.values(peer)
        values[.method] = "\(method.name)"
        values[.capability] = "\(capability.rawValue)"
        logger.warning("Refused a caller", metadata: .of(.refused, values))
    }

    func signedIn(by peer: Peer) {
        logger.notice("A caller signed a user in", metadata: .of(.signedIn, Self.values(peer)))
    }

    func signedOut(by peer: Peer) {
        logger.notice("A caller signed the user out", metadata: .of(.signedOut, Self.values(peer)))
    }

    func turnedAway(_ peer: Peer?) {
        let values = peer.map(Self.values) ?? [:]
        logger.warning("Turned a connection away", metadata: .of(.refused, values))
    }

    private static func values(_ peer: Peer) -> [LogKey: Logger.MetadataValue] {
        var values: [LogKey: Logger.MetadataValue] = [
            .peerUid: "\(peer.user)", .peerPid: "\(peer.process)",
        ]
        if let unit = peer.unit { values[.peerUnit] = "\(unit.name)" }
        return values
    }
}
