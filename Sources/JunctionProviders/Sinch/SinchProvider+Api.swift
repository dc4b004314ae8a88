package import JunctionSession

/// Sinch documents no API that a registered user calls: what a credential opens is between it and the vendor's SDKs.
extension SinchProvider {
    package func admit(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        throw SessionError(.unsupported, "Sinch documents no API for a registered user: there is nothing to call")
    }

    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        throw Unavailability("Sinch documents no API for a registered user: there is nothing to call")
    }

    /// There is no verdict that ends a registration for good.
    package func verdict(in answer: ApiAnswer) -> Verdict? { nil }
}
