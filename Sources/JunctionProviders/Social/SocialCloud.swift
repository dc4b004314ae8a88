/// social.plus's host: one in each region, or the one that the configuration names instead.
package struct SocialCloud: Sendable {
    /// Where an application's users are kept.
    package enum Region: String, Sendable, CaseIterable {
        case eu
        case sg
        case us
    }

    let api: HttpOrigin

    /// Takes the override of the configuration as it is written there.
    package init(region: Region, apiUrl: String? = nil) throws(ProviderConfigurationFault) {
        guard let apiUrl else {
            api = HttpOrigin(host: "apix.\(region.rawValue).amity.co")
            return
        }
        do throws(ProviderConfigurationFault) {
            api = try HttpOrigin(apiUrl)
        } catch {
            throw ProviderConfigurationFault("social.apiUrl: \(error.message)")
        }
    }
}
