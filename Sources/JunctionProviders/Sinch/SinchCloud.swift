/// The registration URL: on a host of Sinch, or the URL that the configuration names.
///
/// The provider documents the hosts and the token but not the endpoint. `/v1/instance` belongs to our sandbox. For
/// another endpoint only ``InstanceEndpoint`` would change.
package struct SinchCloud: Sendable {
    static let usualHost = "ocra.api.sinch.com"

    let registration: HTTPOrigin

    /// Checks the settings of the configuration.
    package init(
        environmentHost: String = usualHost,
        registrationUrl: String? = nil
    ) throws(ProviderConfigurationFault) {
        if let registrationUrl {
            registration = try Self.origin("registrationUrl", registrationUrl)
        } else {
            registration = try Self.origin("environmentHost", "https://\(environmentHost)/v1/instance")
            guard registration.path == "/v1/instance" else {
                throw ProviderConfigurationFault("sinch.environmentHost: expected a host name, like \(Self.usualHost)")
            }
        }
    }

    private static func origin(_ key: String, _ url: String) throws(ProviderConfigurationFault) -> HTTPOrigin {
        try ProviderConfigurationFault.naming("sinch.\(key)", HTTPOrigin(url))
    }
}
