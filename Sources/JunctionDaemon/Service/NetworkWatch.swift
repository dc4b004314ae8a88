import JunctionSession
import NIOCore

/// Reports that the machine's network may be available again.
///
/// The daemon has no network, so the kernel does not report network changes to it. The network services of a machine
/// write their state to a folder below `/run`, for example name servers and interfaces that are up. The daemon treats
/// each change there as a hint, and does not read the files. Without such a folder, a retry comes at its normal time.
/// If a network service starts later, the watch finds its new folder.
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
