package import JunctionSession

/// A provider: its name, its settings, and how its provider is made from them.
///
/// `docs/architecture.md`, *add a provider*, lists every place that a new provider needs.
package protocol ProviderDefinition: Sendable {
    /// The name in the configuration, on the wire and in the stored record.
    static var name: String { get }
    /// Whether the daemon renews the tokens by default, with the session's own secrets. Otherwise the daemon asks a
    /// local app each time.
    static var renewsByItself: Bool { get }
    /// The keys of the provider's table in the configuration.
    static var settings: [ProviderSetting] { get }

    /// Validates all settings, before any of them takes effect.
    init(_ settings: ProviderSettings) throws(ProviderConfigurationFault)

    /// Makes the provider. This cannot fail: settings that a reload has validated also work at the next start.
    func provider(in context: ProviderContext) -> any IdentityProvider
}

/// The values that a provider needs and that exist only in a running daemon.
package struct ProviderContext: Sendable {
    package var http: OutgoingHTTP
    package var clock: any SessionClock
    /// The installation's own id. It survives sign-outs.
    package var installation: String
    /// Storage that survives every session.
    package var memory: any ProviderMemory
    /// The daemon's version, for providers that require it.
    package var version: String

    package init(
        http: OutgoingHTTP,
        clock: any SessionClock,
        installation: String,
        memory: any ProviderMemory,
        version: String
    ) {
        self.http = http
        self.clock = clock
        self.installation = installation
        self.memory = memory
        self.version = version
    }
}
