package import JunctionSecret

/// The network settings of the helper, which has no configuration and cannot read the daemon's files.
package struct NetworkSettings: Sendable {
    /// Certificates (PEM) that are trusted in addition to those of the system. Empty if there are none.
    package var trust: SharedSecret
    /// The client certificates and the key (PEM) for a server that requests them. Empty if there are none.
    package var clientCertificate: SharedSecret
    package var clientKey: SharedSecret
    /// The URL of the proxy, with its credentials if it has any. Empty if there is no proxy.
    package var proxy: SharedSecret
    /// The hosts that are reached without the proxy, as in `NO_PROXY`: names, domains and networks, separated by
    /// commas.
    package var noProxy: String

    package init(
        trust: SharedSecret = .empty,
        clientCertificate: SharedSecret = .empty,
        clientKey: SharedSecret = .empty,
        proxy: SharedSecret = .empty,
        noProxy: String = ""
    ) {
        self.trust = trust
        self.clientCertificate = clientCertificate
        self.clientKey = clientKey
        self.proxy = proxy
        self.noProxy = noProxy
    }

    /// Enough for an organisation's own CA bundle. The bundle of a whole distribution has a quarter of a mebibyte.
    package static let longestFile = 1 << 20
    package static let longest = 3 * longestFile + (1 << 16)
}

extension NetworkSettings {
    func write(into payload: inout Payload) {
        payload.append(trust)
        payload.append(clientCertificate)
        payload.append(clientKey)
        payload.append(proxy)
        payload.append(noProxy)
    }

    init(from reader: inout PayloadReader) throws(FormatFault) {
        trust = try reader.secret()
        clientCertificate = try reader.secret()
        clientKey = try reader.secret()
        proxy = try reader.secret()
        noProxy = try reader.text()
    }
}

extension SharedSecret {
    package static var empty: SharedSecret { SharedSecret(copying: UnsafeRawBufferPointer(start: nil, count: 0)) }
}
