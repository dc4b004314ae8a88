/// Where users are registered: below a host of Sinch's, or at the URL that the configuration names instead.
///
/// The vendor documents the hosts and the token, and not the endpoint: its SDKs keep that to themselves. `/v1/instance`
/// is our stand-in's, and ``InstanceEndpoint`` is all that would change with another.
package struct SinchCloud: Sendable {
    static let usualHost = "ocra.api.sinch.com"

    let registration: HttpOrigin

    /// Takes the settings as they stand in the configuration.
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

    private static func origin(_ key: String, _ url: String) throws(ProviderConfigurationFault) -> HttpOrigin {
        do throws(ProviderConfigurationFault) {
            return try HttpOrigin(url)
        } catch {
            throw ProviderConfigurationFault("sinch.\(key): \(error.message)")
        }
    }
}
