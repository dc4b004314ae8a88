/// The registration URL: on a host of Sinch, or the URL that the configuration names.
///
/// The provider documents the hosts and the token but not the endpoint. `/v1/instance` belongs to our sandbox. For
/// another endpoint only ``InstanceEndpoint`` would change.
package struct SinchCloud: Sendable {
    static let usualHost = "ocra.api.sinch.com"

    let registration: HTTPOrigin

    package init(
        environmentHost: String = usualHost,
        registrationUrl: String? = nil
    ) throws(ProviderConfigurationFault) {
        if let registrationUrl {
            registration = try ProviderConfigurationFault.naming("sinch.registrationUrl", HTTPOrigin(registrationUrl))
        } else {
            let url = "https://\(environmentHost)/v1/instance"
            registration = try ProviderConfigurationFault.naming("sinch.environmentHost", HTTPOrigin(url))
            guard registration.path == "/v1/instance" else {
                throw ProviderConfigurationFault("sinch.environmentHost: expected a host name, like \(Self.usualHost)")
            }
        }
    }
}
