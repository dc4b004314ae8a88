package import JunctionSecret

/// The application whose users sign in at social.plus.
package struct SocialApplication: Sendable {
    /// Without an API key no user can sign in.
    let apiKey: SharedSecret?

    /// Checks the API key from its file.
    package init(apiKey: SharedSecret?) throws(ProviderConfigurationFault) {
        // The key becomes the value of a header, where a line break would begin another header.
        guard apiKey.map(BearerToken.fitsHeader) ?? true else {
            throw ProviderConfigurationFault(
                "social.apiKeyFile: an API key has printable ASCII characters only, without spaces or line breaks"
            )
        }
        self.apiKey = apiKey
    }
}
