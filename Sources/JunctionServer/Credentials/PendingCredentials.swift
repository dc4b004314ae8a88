import NIOCore

/// The connections of the service manager that wait for a change of the session, because there is no valid token.
final class PendingCredentials {
    private var connections: [ObjectIdentifier: CredentialConnection] = [:]
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func add(_ connection: CredentialConnection) { connections[ObjectIdentifier(connection)] = connection }
    func remove(_ connection: CredentialConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// Lets all connections ask again, after the owner has completed the change.
    func sessionChanged() {
        guard !connections.isEmpty else { return }
        let pending = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { pending.value.askAgain() }
    }

    private func askAgain() {
        let asking = connections.values
        connections = [:]
        for connection in asking { connection.sendToken() }
    }
}
