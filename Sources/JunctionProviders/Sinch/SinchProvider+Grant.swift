import JunctionSession

/// Makes a grant from the service's answer.
extension SinchProvider {
    /// Returns the grant of a registration. It ends at the earlier of the times that the service and the token name.
    func grant(
        _ identity: Identity,
        _ scheme: Scheme,
        _ instance: InstanceEndpoint.Instance,
        _ proof: SinchProof,
        after earlier: Registration?
    ) -> Grant {
        let asked = proof.instanceExpiresAt.map(instance.serverClock.ours)
        let stated = [instance.expiresAt, asked].compactMap(\.self).min()
        let limit = stated ?? earlier?.limit(of: instance.id, at: instance.sentAt.wall)
        let registration = Registration(
            instanceId: instance.id,
            scheme: scheme,
            limit: limit
        )
        return Grant(
            identity: identity,
            scheme: scheme,
            token: Grant.Token(
                secret: instance.credential,
                life: Life(from: instance.sentAt.wall, to: limit, at: instance.sentAt)
            ),
            refreshToken: registration == earlier ? nil : registration.sealed
        )
    }
}
