package import JunctionSession

/// The vendor Sinch. The app's server decides which users register.
package struct SinchVendor: Vendor {
    package static let name = "sinch"
    package static let renewsByItself = false
    package static let settings = [
        VendorSetting("applicationKey", .text("the application key from the Sinch dashboard")),
        VendorSetting("environmentHost", .hostName, usually: SinchCloud.usualHost),
        // Replaces the environment's host.
        VendorSetting("registrationUrl", .url),
        // For self-signed registrations, which the vendor discourages. The service manager's credential
        // `sinch.applicationSecret` can replace the file.
        VendorSetting("applicationSecretFile", .secretFile(credential: secretCredential)),
    ]

    private static let secretCredential = "sinch.applicationSecret"

    private let cloud: SinchCloud
    private let application: SinchApplication

    package init(_ settings: VendorSettings) throws(ProviderConfigurationFault) {
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
