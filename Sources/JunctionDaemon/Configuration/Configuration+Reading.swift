import JunctionProtocol
import JunctionProviders
import JunctionSession
import JunctionText
import JunctionToml

/// Reads every key of the configuration, with its type and its bounds.
extension Configuration {
    init(reading root: SettingsTable) throws(ConfigurationError) {
        try root.read("provider", .choice, into: &provider)
        for name in ProviderName.allCases { try readProvider(name, root.table(name.rawValue)) }
        try root.table("tls").read("caFile", .absolutePath, into: &tls.caFile)
        try network.read(root.table("network"))
        try renewal.read(root.table("renewal"))
        try api.read(root.table("api"))
        try limits.read(root.table("limits"))
        for table in try root.tables("access") { access.append(try AccessEntry(reading: table)) }
        try root.table("log").read("level", .choice, into: &log.level)
        try root.refuseUnknownKeys()
    }

    private mutating func readProvider(_ name: ProviderName, _ table: SettingsTable) throws(ConfigurationError) {
        for setting in name.definition.settings {
            try table.read(
                setting.key,
                .kind(setting.kind),
                into: &providerValues[name.rawValue, default: [:]][setting.key]
            )
        }
    }
}

extension Configuration.API {
    fileprivate mutating func read(_ table: SettingsTable) throws(ConfigurationError) {
        try table.read("expose", .boolean, into: &expose)
        try table.read("socket", .socketPath, into: &socket)
    }
}

extension Configuration.Network {
    private static let longestTimeout = 300

    fileprivate mutating func read(_ table: SettingsTable) throws(ConfigurationError) {
        try table.read("proxy", .proxy, into: &proxy)
        try table.read("noProxy", .places, into: &noProxy)
        try table.read("resolveTimeout", .seconds(in: 1...Self.longestTimeout), into: &resolveTimeout)
        try table.read("connectTimeout", .seconds(in: 1...Self.longestTimeout), into: &connectTimeout)
        try table.read("requestTimeout", .seconds(in: 1...Self.longestTimeout), into: &requestTimeout)
        try table.read("clientCertificateFile", .absolutePath, into: &clientCertificateFile)
        try table.read("clientKeyFile", .absolutePath, into: &clientKeyFile)
    }
}

extension SettingKind<ProxyAddress> {
    fileprivate static var proxy: SettingKind {
        let text = SettingKind<String>.text("a URL")
        return SettingKind { (value) throws(SettingMismatch) in
            let url = try text.read(value)
            do throws(ProviderConfigurationFault) {
                return try ProxyAddress(url)
            } catch {
                throw SettingMismatch(message: error.message)
            }
        }
    }
}

extension SettingKind<[String]> {
    /// In an environment variable, commas separate the entries, as in `NO_PROXY`.
    fileprivate static var places: SettingKind {
        let spelledOut = { (text: String) in
            SettingValue.list(NoProxy.places(in: text).map { Setting(value: .string($0), line: 0) })
        }
        return list(of: "host names, domains and networks", spelledOut: spelledOut, where: NoProxy.isPlace)
    }
}

extension Configuration.Renewal {
    private static let longestHandlerTimeout = 3_600
    private static let longestPostponement = 7 * 86_400

    fileprivate mutating func read(_ table: SettingsTable) throws(ConfigurationError) {
        let shortest = Int(RenewalPolicy.shortestPostponement.components.seconds)
        try table.read("mode", .choice, into: &mode)
        try table.read("handlerTimeout", .seconds(in: 1...Self.longestHandlerTimeout), into: &handlerTimeout)
        try table.read("postponeFor", .seconds(in: shortest...Self.longestPostponement), into: &postponeFor)
    }
}

extension Configuration.Limits {
    fileprivate mutating func read(_ table: SettingsTable) throws(ConfigurationError) {
        try table.read("connections", .wholeNumber(in: 1...100_000), into: &connections)
        try table.read("inFlight", .wholeNumber(in: 1...1_000_000), into: &inFlight)
        try table.read("providerCallsPerMinute", .wholeNumber(in: 1...100_000), into: &providerCallsPerMinute)
    }
}

extension AccessEntry {
    fileprivate init(reading table: SettingsTable) throws(ConfigurationError) {
        var allowed: Set<Capability>?
        try table.read("allow", .capabilities, into: &allowed)
        for key in ["audience", "scopes"] { try table.refuse(key, Self.reserved) }
        self.init(allow: allowed ?? [])
        try table.read("unit", .unitName, into: &unit)
        try table.read("user", .accountName("a user"), into: &user)
        try table.read("group", .accountName("a group"), into: &group)
        guard allowed == nil else { return }
        // A misspelt "allow" is an unknown key.
        try table.refuseUnknownKeys()
        throw table.fault("allow", "missing; expected \(SettingKind.capabilityList)")
    }

    private static let reserved =
        "reserved for access tokens for a single app, which the daemon does not support yet: remove this key. Callers with "
        + "the capability token get the access token of the session"
}

extension SettingKind<Set<Capability>> {
    fileprivate static var capabilityList: String {
        "a list of " + Capability.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    }

    fileprivate static var capabilities: SettingKind {
        SettingKind { (value) throws(SettingMismatch) in
            guard case .list(let words) = value else {
                throw SettingMismatch(message: "expected \(capabilityList), found \(value.inWords)")
            }
            var capabilities: Set<Capability> = []
            for (index, word) in words.enumerated() {
                guard case .string(let text) = word.value, let capability = Capability(rawValue: text) else {
                    let found = "item \(index + 1) is " + mistake(word.value)
                    throw SettingMismatch(message: "expected \(capabilityList); \(found)")
                }
                capabilities.insert(capability)
            }
            return capabilities
        }
    }

    /// A text that resembles no capability is not repeated, because it may be a secret in the wrong place.
    private static func mistake(_ value: SettingValue) -> String {
        guard case .string(let text) = value else { return value.inWords }
        guard let meant = Spelling.suggestion(for: text, among: Capability.allCases.map(\.rawValue)) else {
            return "none of them"
        }
        return "\"\(text)\": did you mean \"\(meant)\"?"
    }
}

extension SettingKind<String> {
    /// The name must be complete and possible (systemd.unit(5)): any other would match no unit, and no error would show
    /// the mistake. For example, no unit has the name of a template, such as `worker@.service`.
    fileprivate static var unitName: SettingKind {
        let types = ["service", "scope", "socket", "timer", "mount", "swap", "slice", "path", "target", "device"]
        return text("a full unit name, such as \"health-sync.service\" or \"worker@1.service\", without a wildcard") {
            name in
            guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), name.utf8.count <= 255 else { return false }
            let prefix = name[..<dot]
            guard !prefix.isEmpty, !prefix.hasPrefix("@"), !prefix.hasSuffix("@"),
                prefix.utf8.allSatisfy(isOfUnitName)
            else { return false }
            return types.contains(String(name[name.index(after: dot)...]))
        }
    }

    private static func isOfUnitName(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || ":_.\\-@".utf8.contains(byte)
    }

    fileprivate static func accountName(_ account: String) -> SettingKind {
        text("\(account) by name or by number, as text") { name in
            name.utf8.count <= 255 && !name.contains { $0 == ":" || $0 == "/" || $0.isWhitespace }
        }
    }
}
