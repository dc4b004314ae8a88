import JunctionSession
import NIOCore

/// Hears that the machine's network may have come back.
///
/// The daemon has no network, so the kernel does not tell it about one. Whoever manages the network notes in a folder below
/// `/run` what it knows: a name server that was learnt, an interface that is up. A change there is news, and no more is
/// read from it; where nobody keeps such a folder, a retry comes in its time. One that is started later makes its folder then.
enum NetworkWatch {
    /// systemd-networkd and -resolved, NetworkManager, ifupdown, resolvconf, ConnMan, dhcpcd.
    static let folders = [
        "/run/systemd/netif", "/run/systemd/resolve", "/run/NetworkManager", "/run/network", "/run/resolvconf",
        "/run/connman", "/run/dhcpcd",
    ]

    static func start(on loop: any EventLoop, telling owner: SessionOwner) {
        try? FolderWatch.start(of: folders, on: loop) { owner.assumeIsolated { $0.networkChanged() } }
    }
}
