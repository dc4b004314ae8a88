import JunctionSession

/// The legacy scheme's sequences: each is used once, over sign-outs and crashes too.
extension SinchProvider {
    /// Registers a user's device once. A sequence is used up before the request leaves; one whose request was certainly
    /// not acted on is given back, so that the same signature is still good when the network is.
    func register(
        _ userId: String,
        proving proof: SinchProof,
        extending instanceId: String?
    ) async throws(InstanceEndpoint.Failure) -> InstanceEndpoint.Instance {
        guard let sequence = proof.sequence else {
            return try await endpoint.register(userId, proving: proof, extending: instanceId)
        }
        // The application's server counts for each user of each application.
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
            if case .unavailable(let why) = error, !why.ambiguous {
                await memory.release(sequence, of: subject)
            }
            throw error
        }
    }
}
