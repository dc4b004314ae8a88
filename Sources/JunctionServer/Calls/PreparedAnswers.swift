import JunctionJSON
import JunctionProtocol
import JunctionSecret
import JunctionSession

/// The answers to frequent calls, encoded once: the state and the token until the session changes, and the interface
/// documents, which never change and which every caller may read.
final class PreparedAnswers {
    private var status = Status()
    private var token: Token?
    private var changesAtToken: UInt64?
    private var discoveryDocument: [UInt8]?
    private var openAPIDocument: [UInt8]?

    private struct Status {
        /// The owner's count of changes when the answer was encoded.
        var changes: UInt64?
        var revision: UInt64?
        var json: [UInt8] = []
        /// Whether all callers get the same answer, because there are no codes.
        var isForAll = false
    }

    private struct Token: Sendable {
        let servable: ServableToken
        // Contains the access token, and is wiped when it is replaced.
        let json: SharedSecret
    }

    // MARK: The state

    /// Passes the present answer to `session.status` to `body`.
    ///
    /// - Parameter seesCodes: whether the caller sees the codes of a sign-in that awaits approval.
    func withStatus(
        of owner: SessionOwner,
        for seesCodes: @autoclosure () -> Bool,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        if status.changes != owner.changeCount.present { prepareStatus(of: owner) }
        guard !status.isForAll, let codes = owner.assumeIsolated({ $0.codes }), seesCodes() else {
            return status.json.withUnsafeBytes(body)
        }
        var writer = JSONWriter(capacity: 1_024)
        WireSnapshot(owner.assumeIsolated { $0.snapshot }, codes: codes).write(to: &writer)
        writer.withUnsafeBytes(body)
    }

    private func prepareStatus(of owner: SessionOwner) {
        let (snapshot, hasCodes) = owner.assumeIsolated { ($0.snapshot, $0.codes != nil) }
        if snapshot.revision != status.revision {
            var writer = JSONWriter(capacity: 1_024)
            WireSnapshot(snapshot).write(to: &writer)
            (status.revision, status.json) = (snapshot.revision, writer.take())
        }
        (status.changes, status.isForAll) = (owner.changeCount.present, !hasCodes)
    }

    // MARK: The token

    /// Passes the encoded answer to `token.get` to `body` if a token is valid for at least `validity`.
    ///
    /// - Returns: the generation of that token; `nil` if there is none.
    func withToken(
        validFor validity: Duration,
        of owner: SessionOwner,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) -> UInt64? {
        if changesAtToken != owner.changeCount.present { prepareToken(of: owner) }
        guard let token, token.servable.isValid(for: validity, owner.now) else { return nil }
        token.json.withUnsafeBytes(body)
        return token.servable.facts.generation
    }

    private func prepareToken(of owner: SessionOwner) {
        let present = token
        token = owner.assumeIsolated { owner in
            guard let servable = owner.servable else { return nil }
            if let present, present.servable.facts == servable.facts {
                return Token(servable: servable, json: present.json)
            }
            guard case .success(let served) = owner.served(servable.facts) else { return nil }
            var writer = JSONWriter(capacity: served.secret.count + 256)
            AccessToken(served).write(to: &writer)
            return Token(servable: servable, json: writer.withUnsafeBytes { SharedSecret(copying: $0) })
        }
        changesAtToken = owner.changeCount.present
    }

    /// Drops the token if it is no longer the session's. Called when the state has changed.
    func forgetToken(unless generation: UInt64?) {
        guard let token, token.servable.facts.generation != generation else { return }
        (self.token, changesAtToken) = (nil, nil)
    }

    // MARK: The interface

    func withDiscoveryDocument(of introspection: any DaemonIntrospection, _ body: (UnsafeRawBufferPointer) -> Void) {
        let document = discoveryDocument ?? OpenRPCDocument(version: introspection.info().version).json()
        discoveryDocument = document
        document.withUnsafeBytes(body)
    }

    func withOpenAPIDocument(of introspection: any DaemonIntrospection, _ body: (UnsafeRawBufferPointer) -> Void) {
        let document = openAPIDocument ?? OpenAPIDocument(version: introspection.info().version).json()
        openAPIDocument = document
        document.withUnsafeBytes(body)
    }
}
