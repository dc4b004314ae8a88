package import JunctionSecret

/// How the courier is to use the network: it has no configuration, and no file of ours that it could read.
package struct NetworkSettings: Sendable {
    /// Certificates (PEM) that are trusted beside those of the system; empty: none.
    package var trust: SharedSecret
    /// What we show to a server that asks who we are (PEM): certificates and the key. Empty: nothing.
    package var clientCertificate: SharedSecret
    package var clientKey: SharedSecret
    /// The URL of the proxy, with its credentials if it has any; empty: none.
    package var proxy: SharedSecret
    /// What is reached without the proxy, as `NO_PROXY` has it: names, domains and networks, with commas in between.
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

    /// A bundle of an organisation's own authorities; that of a whole distribution has a quarter of a mebibyte.
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
    /// No bytes at all.
    package static var empty: SharedSecret { SharedSecret(copying: UnsafeRawBufferPointer(start: nil, count: 0)) }
}
