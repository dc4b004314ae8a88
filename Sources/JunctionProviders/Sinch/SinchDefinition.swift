package import JunctionSession

/// The provider Sinch. The app's server decides which users register.
package struct SinchDefinition: ProviderDefinition {
    package static let name = "sinch"
    package static let renewsByItself = false
    package static let settings = [
        ProviderSetting("applicationKey", .text("the application key from the Sinch dashboard")),
        ProviderSetting("environmentHost", .hostName, usually: SinchCloud.usualHost),
        // Replaces the environment's host.
        ProviderSetting("registrationUrl", .url),
        // For self-signed registrations, which the provider discourages. The service manager's credential
        // `sinch.applicationSecret` can replace the file.
        ProviderSetting("applicationSecretFile", .secretFile(credential: secretCredential)),
    ]

    private static let secretCredential = "sinch.applicationSecret"

    private let cloud: SinchCloud
    private let application: SinchApplication

    package init(_ settings: ProviderSettings) throws(ProviderConfigurationFault) {
        guard let key = settings["applicationKey"] else {
            throw ProviderConfigurationFault("sinch.applicationKey is missing: it is on Sinch's dashboard")
        }
        cloud = try SinchCloud(
            environmentHost: settings["environmentHost"] ?? SinchCloud.usualHost,
            registrationUrl: settings["registrationUrl"]
        )
        let secret = try settings.secret("applicationSecretFile", orCredential: Self.secretCredential)
        application = try SinchApplication(key: key, secret: secret)
    }

    package func provider(in context: ProviderContext) -> any IdentityProvider {
        SinchProvider(
            cloud: cloud,
            application: application,
            deviceId: context.installation,
            http: context.http,
            clock: context.clock,
            memory: context.memory
        )
    }
}
