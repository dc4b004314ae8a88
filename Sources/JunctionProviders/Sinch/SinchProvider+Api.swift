package import JunctionSession

/// Refuses API calls: Sinch documents no API for a registered user. Only the provider's SDKs use the credential.
extension SinchProvider {
    package func validate(_ request: ApiRequest, for identity: Identity) throws(SessionError) -> ApiRequest {
        throw SessionError(.unsupported, "Sinch documents no API for a registered user: there is nothing to call")
    }

    package func send(
        _ request: ApiRequest,
        for identity: Identity,
        with secrets: SessionSecrets
    ) async throws(Unavailability) -> ApiAnswer {
        throw Unavailability("Sinch documents no API for a registered user: there is nothing to call")
    }

    /// No API answer ends a registration.
    package func verdict(in answer: ApiAnswer) -> Verdict? { nil }
}
