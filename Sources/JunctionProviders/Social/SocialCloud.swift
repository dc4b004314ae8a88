/// social.plus's host: one for each region, or the one that the configuration names.
package struct SocialCloud: Sendable {
    /// The region of an application's users.
    package enum Region: String, Sendable, CaseIterable {
        case eu
        case sg
        case us
    }

    let api: HTTPOrigin

    package init(region: Region, apiUrl: String? = nil) throws(ProviderConfigurationFault) {
        guard let apiUrl else {
            api = HTTPOrigin(host: "apix.\(region.rawValue).amity.co")
            return
        }
        api = try ProviderConfigurationFault.naming("social.apiUrl", HTTPOrigin(apiUrl))
    }
}
