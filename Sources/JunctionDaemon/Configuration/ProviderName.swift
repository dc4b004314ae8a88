package import JunctionProviders

/// The name of a known provider in the configuration.
package struct ProviderName: RawRepresentable, CaseIterable, Equatable, Sendable {
    /// Every provider; the first is the default.
    package static let allCases = [
        ProviderName(JunctionDefinition.self),
        ProviderName(SocialDefinition.self),
        ProviderName(SinchDefinition.self),
        ProviderName(OAuthDefinition.self),
    ]

    package let definition: any ProviderDefinition.Type

    private init(_ definition: any ProviderDefinition.Type) { self.definition = definition }

    package init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    package var rawValue: String { definition.name }

    package static func == (one: ProviderName, other: ProviderName) -> Bool { one.definition == other.definition }
}
