package import JunctionSession

/// What is known of a vendor before there is a provider: its name, its settings, and how it is made of them.
///
/// A further vendor is a folder with one of these, and a line in the wiring's list of vendors.
package protocol Vendor: Sendable {
    /// What it is called: in the configuration, on the wire and in the stored record.
    static var name: String { get }
    /// Who renews its tokens unless the configuration says otherwise: the daemon with the session's own secrets, or a
    /// local app that is asked each time.
    static var renewsByItself: Bool { get }
    /// The keys of its table in the configuration.
    static var settings: [VendorSetting] { get }

    /// Checks everything about the settings, before anything is touched.
    init(_ settings: VendorSettings) throws(ProviderConfigurationFault)

    /// Nothing can be wrong with the settings any more: what a reload has checked, the next start takes.
    func provider(in context: ProviderContext) -> any IdentityProvider
}

/// What a provider needs that exists only once the daemon does.
package struct ProviderContext: Sendable {
    package var http: OutgoingHttp
    package var clock: any SessionClock
    /// The installation's own id: it survives sign-outs.
    package var installation: String
    /// What outlives every session.
    package var memory: any ProviderMemory
    /// The daemon's own version, for vendors that want to know.
    package var version: String

    package init(
        http: OutgoingHttp,
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
