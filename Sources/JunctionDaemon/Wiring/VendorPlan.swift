import JunctionProviders
import JunctionSecret
import JunctionSession

/// The vendor that the configuration names: everything about it is checked here, before anything is touched.
struct VendorPlan: Sendable {
    /// What a provider needs that exists only once the daemon does.
    struct House: Sendable {
        var http: OutgoingHttp
        var clock: any SessionClock
        /// The installation's own id: it survives sign-outs.
        var installation: String
        /// What outlives every session.
        var memory: any ProviderMemory
    }

    private let make: @Sendable (House) throws(ProviderConfigurationFault) -> any IdentityProvider

    /// - Parameter credentials: the service manager's folder of credentials, if there is one.
    init(_ configuration: Configuration, credentials: String?) throws(StartFailure) {
        do throws(ProviderConfigurationFault) {
            make = try Self.plan(configuration, SecretFiles(credentials: credentials))
        } catch {
            throw StartFailure(.configuration, error.message)
        }
    }

    func provider(in house: House) throws(StartFailure) -> any IdentityProvider {
        do throws(ProviderConfigurationFault) {
            return try make(house)
        } catch {
            throw StartFailure(.configuration, error.message)
        }
    }

    /// A further vendor is one more case.
    private static func plan(
        _ configuration: Configuration,
        _ files: SecretFiles
    ) throws(ProviderConfigurationFault) -> @Sendable (House) throws(ProviderConfigurationFault) -> any IdentityProvider
    {
        switch configuration.provider {
        case .junction:
            let settings = configuration.junction
            let cloud = try JunctionCloud(authUrl: settings.authUrl, apiUrl: settings.apiUrl)
            return { JunctionProvider(cloud: cloud, http: $0.http, clock: $0.clock) }
        case .social:
            let settings = configuration.social
            let region = SocialCloud.Region(rawValue: settings.region.rawValue) ?? .eu
            let cloud = try SocialCloud(region: region, apiUrl: settings.apiUrl)
            let apiKey = try files.secret(settings.apiKeyFile, orCredential: "social.apiKey")
            return { (house) throws(ProviderConfigurationFault) in
                try SocialProvider(
                    cloud: cloud,
                    apiKey: apiKey,
                    device: SocialDevice(id: house.installation, version: Version.number),
                    http: house.http,
                    clock: house.clock
                )
            }
        case .sinch:
            let settings = configuration.sinch
            guard let key = settings.applicationKey else {
                throw ProviderConfigurationFault("sinch.applicationKey is missing: it is on Sinch's dashboard")
            }
            let cloud = try SinchCloud(
                environmentHost: settings.environmentHost,
                registrationUrl: settings.registrationUrl
            )
            let secret = try files.secret(settings.applicationSecretFile, orCredential: "sinch.applicationSecret")
            let application = try SinchApplication(key: key, secret: secret)
            return {
                SinchProvider(
                    cloud: cloud,
                    application: application,
                    deviceId: $0.installation,
                    http: $0.http,
                    clock: $0.clock,
                    memory: $0.memory
                )
            }
        }
    }
}

/// Where the configuration's secrets are: a file that it names, or a credential of the service manager.
private struct SecretFiles {
    let credentials: String?

    func secret(
        _ file: String?,
        orCredential name: String
    ) throws(ProviderConfigurationFault) -> SharedSecret? {
        if let file {
            guard let secret = SmallFile.secret(at: file) else {
                throw ProviderConfigurationFault("\(file) cannot be read as a secret: expected one line of text")
            }
            return secret
        }
        return credentials.flatMap { SmallFile.secret(at: $0 + "/" + name) }
    }
}
