import JunctionSession

/// The sequences of the legacy scheme. Each is used once, also across sign-outs and crashes.
extension SinchProvider {
    /// Registers a user's device once. The sequence is marked as used before the request leaves. If the server
    /// refused the signature or certainly did not act on the request, the sequence is released. So a wrong signature
    /// uses up no sequence.
    func register(
        _ userId: String,
        proving proof: SinchProof,
        extending instanceId: String?
    ) async throws(InstanceEndpoint.Failure) -> InstanceEndpoint.Instance {
        guard let sequence = proof.sequence else {
            return try await endpoint.register(userId, proving: proof, extending: instanceId)
        }
        // The application's server counts separately for each user of each application.
        let subject = "\(application.key)/\(userId)"
        do throws(SequenceSpent) {
            try await memory.claim(sequence, of: subject)
        } catch {
            throw .spent(
                "The sequence \(sequence) is not larger than the last one that was used on this device, \(error.last): "
                    + "get a signature with a larger sequence from your backend"
            )
        }
        do throws(InstanceEndpoint.Failure) {
            return try await endpoint.register(userId, proving: proof, extending: instanceId)
        } catch {
            switch error {
            case .refused: memory.release(sequence, of: subject)
            case .unavailable(let why) where !why.ambiguous: memory.release(sequence, of: subject)
            case .unavailable, .forgotten, .spent: break
            }
            throw error
        }
    }
}
