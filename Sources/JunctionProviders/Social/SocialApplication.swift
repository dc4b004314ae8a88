package import JunctionSecret

/// The application whose users sign in at social.plus.
package struct SocialApplication: Sendable {
    /// Without it nobody can sign in.
    let apiKey: SharedSecret?

    /// Takes the API key as its file has it.
    package init(apiKey: SharedSecret?) throws(ProviderConfigurationFault) {
        // It becomes the value of a header, where a line break would begin the next one.
        guard apiKey.map(BearerToken.fitsHeader) ?? true else {
            throw ProviderConfigurationFault(
                "social.apiKeyFile: an API key has printable ASCII characters only, without spaces or line breaks"
            )
        }
        self.apiKey = apiKey
    }
}
