import JunctionProtocol
import JunctionToml

/// How a setting may be shown: only values that the setting can have.
enum KnownSetting {
    case boolean
    case number
    case word(Set<String>)
    /// A list; words that are not in the set are hidden.
    case words(Set<String>)
    case path
    case url
    case urls
    case proxy
    /// A host of this domain.
    case host(of: String)
    /// Any text, which is always hidden because it may be a secret.
    case text

    /// Returns the value as it may be shown, or nil if the setting cannot have it.
    func shown(_ value: SettingValue) -> String? {
        switch (self, value) {
        case (.boolean, .boolean(let value)): "\(value)"
        case (.number, .integer(let number)): "\(number)"
        case (.word(let words), .string(let text)) where words.contains(text): "\"\(text)\""
        case (.words(let words), .list(let list)): Self.shown(list) { words.contains($0) ? $0 : nil }
        case (.path, .string(let text)): RedactedPath.path(text).map { "\"\($0)\"" }
        case (.url, .string(let text)): RedactedPath.url(text).map { "\"\($0)\"" }
        case (.urls, .list(let list)): Self.shown(list, RedactedPath.url)
        case (.proxy, .string(let text)): RedactedPath.proxy(text).map { "\"\($0)\"" }
        case (.host(let domain), .string(let text)):
            text.hasSuffix(".\(domain)") ? RedactedPath.host(text).map { "\"\($0)\"" } : nil
        case (.boolean, _), (.number, _), (.word, _), (.words, _), (.path, _), (.url, _), (.urls, _), (.proxy, _),
            (.host, _), (.text, _):
            nil
        }
    }

    private static func shown(_ list: [Setting], _ element: (String) -> String?) -> String {
        let elements = list.map { setting in
            if case .string(let text) = setting.value, let shown = element(text) {
                "\"\(shown)\""
            } else {
                Redaction.mark
            }
        }
        return "[\(elements.joined(separator: ", "))]"
    }
}

extension KnownSetting {
    /// The only table that may occur several times.
    static let repeatedTable = "access"

    /// Whether a table or a setting has this path. The path of an entry's key has no index: `access.unit`.
    static func names(_ path: String) -> Bool {
        all[path] != nil || all.keys.contains { $0.hasPrefix(path + ".") }
    }

    /// Every setting of etc/junctiond/junctiond.toml. A test compares the two.
    static let all: [String: KnownSetting] = [
        "provider": .word(Set(Provider.allCases.map(\.rawValue))),

        "junction.authUrl": .url,
        "junction.apiUrl": .url,
        "junction.apiKeyInProduction": .boolean,

        "social.region": .word(["eu", "sg", "us"]),
        "social.apiUrl": .url,
        "social.apiKeyFile": .path,

        "sinch.applicationKey": .text,
        "sinch.environmentHost": .host(of: "sinch.com"),
        "sinch.registrationUrl": .url,
        "sinch.applicationSecretFile": .path,

        "oauth.issuer": .url,
        "oauth.clientId": .text,
        "oauth.clientAuthentication": .word(["none", "basic", "post", "privateKeyJwt"]),
        "oauth.clientSecretFile": .path,
        "oauth.clientKeyFile": .path,
        "oauth.assertionAudience": .word(["issuer", "endpoint"]),
        "oauth.scopes": .words(["openid", "offline_access", "profile", "email"]),
        "oauth.audience": .text,
        "oauth.resource": .urls,
        "oauth.identity": .word(["idToken", "userinfo"]),
        "oauth.apiUrl": .url,
        "oauth.tokenEndpoint": .url,
        "oauth.deviceAuthorizationEndpoint": .url,
        "oauth.revocationEndpoint": .url,
        "oauth.userinfoEndpoint": .url,
        "oauth.authorizationEndpoint": .url,

        "tls.caFile": .path,

        "network.proxy": .proxy,
        "network.noProxy": .text,
        "network.resolveTimeout": .number,
        "network.connectTimeout": .number,
        "network.requestTimeout": .number,
        "network.clientCertificateFile": .path,
        "network.clientKeyFile": .path,

        "renewal.mode": .word(["automatic", "handler"]),
        "renewal.handlerTimeout": .number,
        "renewal.postponeFor": .number,

        "api.expose": .boolean,
        "api.socket": .path,

        "limits.connections": .number,
        "limits.inFlight": .number,
        "limits.providerCallsPerMinute": .number,

        "access.allow": .words(Set(Capability.allCases.map(\.rawValue))),
        "access.unit": .text,
        "access.user": .text,
        "access.group": .text,

        "log.level": .word(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
    ]
}
