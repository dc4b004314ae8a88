import JunctionJSON
import JunctionProtocol
import JunctionSecret
import JunctionSession

/// The answers that are asked for again and again, rendered once: the state for each revision, the token for each
/// generation, and the interface, which never changes and which anybody may ask for.
final class PreparedAnswers {
    private var revision: UInt64?
    private var status: [UInt8] = []
    private var token: TokenFacts?
    // Holds the access token; it is wiped when it is replaced.
    private var tokenAnswer: SharedSecret?
    private var discoveryDocument: [UInt8]?

    /// Lends the answer to `session.status` at this moment.
    ///
    /// - Parameter mayManage: whether it is for a caller who may see the codes of a sign-in that awaits approval.
    func withStatus(
        of owner: SessionOwner,
        for mayManage: @autoclosure () -> Bool,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        if let codes = owner.assumeIsolated({ $0.codes }), mayManage() {
            var writer = JSONWriter(capacity: 1_024)
            JunctionProtocol.Snapshot(owner.assumeIsolated { $0.snapshot }, codes: codes).write(to: &writer)
            return writer.withUnsafeBytes(body)
        }
        if owner.assumeIsolated({ $0.snapshot.revision }) != revision {
            let snapshot = owner.assumeIsolated { $0.snapshot }
            var writer = JSONWriter(capacity: 1_024)
            JunctionProtocol.Snapshot(snapshot).write(to: &writer)
            (revision, status) = (snapshot.revision, writer.take())
        }
        status.withUnsafeBytes(body)
    }

    /// Lends the answer to `rpc.discover`.
    func withDiscoveryDocument(of introspection: any DaemonIntrospection, _ body: (UnsafeRawBufferPointer) -> Void) {
        let document = discoveryDocument ?? introspection.discoveryDocument()
        discoveryDocument = document
        document.withUnsafeBytes(body)
    }

    /// Lends the answer to `token.get`, if there is a token that can be served at this moment; its generation.
    func withToken(
        validFor validity: Duration,
        of owner: SessionOwner,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) -> UInt64? {
        guard let facts = owner.assumeIsolated({ $0.servableToken(minimumValidity: validity) }) else { return nil }
        if facts != token {
            guard case .success(let served) = owner.assumeIsolated({ $0.served(facts) }) else { return nil }
            var writer = JSONWriter(capacity: served.secret.count + 256)
            AccessToken(served).write(to: &writer)
            (token, tokenAnswer) = (facts, writer.withUnsafeBytes { SharedSecret(copying: $0) })
        }
        tokenAnswer?.withUnsafeBytes(body)
        return facts.generation
    }

    /// The state has changed: a token that is no longer the session's is not kept.
    func forgetToken(unless generation: UInt64?) {
        guard let token, token.generation != generation else { return }
        (self.token, tokenAnswer) = (nil, nil)
    }
}
