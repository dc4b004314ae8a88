import JunctionProviders

// The settings that a running daemon cannot change.
extension Configuration {
    /// Returns the keys of the settings that differ from those of `other` and that take effect only at a start.
    ///
    /// The settings of a provider count only if it is the configured one before or after the change.
    func settingsToRestartFor(from other: Configuration) -> [String] {
        var keys = Self.takenAtStart.filter { $0.differs(self, other) }.map(\.key)
        for name in ProviderName.allCases where name == provider || name == other.provider {
            let (old, new) = (providerValues[name.rawValue] ?? [:], other.providerValues[name.rawValue] ?? [:])
            keys += name.definition.settings.filter { old[$0.key] != new[$0.key] }.map { "\(name.rawValue).\($0.key)" }
        }
        return keys
    }

    private struct Setting: Sendable {
        var key: String
        var differs: @Sendable (Configuration, Configuration) -> Bool
    }

    private static func setting<Value: Equatable & Sendable>(
        _ key: String,
        _ value: @escaping @Sendable (Configuration) -> Value
    ) -> Setting {
        Setting(key: key) { value($0) != value($1) }
    }

    /// All settings except `access`, `api.expose` and `log`, which a reload changes, and except the providers' own.
    private static let takenAtStart = [
        setting("provider") { $0.provider },
        setting("tls.caFile") { $0.tls.caFile },
        setting("network.proxy") { $0.network.proxy },
        setting("network.noProxy") { $0.network.noProxy },
        setting("network.resolveTimeout") { $0.network.resolveTimeout },
        setting("network.connectTimeout") { $0.network.connectTimeout },
        setting("network.requestTimeout") { $0.network.requestTimeout },
        setting("network.clientCertificateFile") { $0.network.clientCertificateFile },
        setting("network.clientKeyFile") { $0.network.clientKeyFile },
        setting("renewal.mode") { $0.renewal.mode },
        setting("renewal.handlerTimeout") { $0.renewal.handlerTimeout },
        setting("renewal.postponeFor") { $0.renewal.postponeFor },
        setting("api.socket") { $0.api.socket },
        setting("limits.connections") { $0.limits.connections },
        setting("limits.inFlight") { $0.limits.inFlight },
        setting("limits.providerCallsPerMinute") { $0.limits.providerCallsPerMinute },
    ]
}
