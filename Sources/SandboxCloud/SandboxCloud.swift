import FoundationEssentials
import Glibc
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore

/// The vendors' clouds on loopback, with the endpoints that drive them in tests.
package struct SandboxCloud: Sendable {
    private let configuration: SandboxConfiguration
    private let vendors: [any Vendor]
    private let responder: RouterResponder<CloudContext>
    private let logger: Logger

    /// Reads the state file if there is one. Does not listen yet.
    package init(_ configuration: SandboxConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger

        let store = try Store(settings: configuration.settings, file: configuration.stateFile.map(StateFile.init))
        let hanging = HangingRequests()
        // docs/sandbox.md lists the other steps for a new vendor.
        let vendors: [any Vendor] = [
            try JunctionCloud(store: store, scheme: configuration.scheme),
            SocialCloud(store: store),
            SinchCloud(store: store, application: configuration.sinch),
            try OAuthCloud(store: store, scheme: configuration.scheme),
        ]

        let router = Router(context: CloudContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware {
            LocalRequestMiddleware(front: configuration.front)
            HeadMiddleware()
            TrafficMiddleware(
                store: store,
                tokenEndpoints: vendors.reduce(into: []) { $0.formUnion($1.tokenEndpoints) }
            )
            FaultMiddleware(store: store, hanging: hanging)
            RefusalMiddleware()
        }
        self.vendors = vendors
        for vendor in vendors { vendor.addRoutes(to: router) }
        Driving(store: store, hanging: hanging, vendors: vendors).addRoutes(to: router)
        Page(store: store, vendors: vendors, scheme: configuration.scheme).addRoutes(to: router)
        responder = router.buildResponder()
    }

    /// Serves until the task is cancelled. Calls `listening` with the origin once it listens.
    package func run(listening: @escaping @Sendable (_ origin: String) -> Void) async throws {
        let listen = configuration.listen
        let application = Application(
            responder: responder,
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port),
                serverName: "junction-sandbox"
            ),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? listen.port
                listening(configuration.origin(port: port))
            },
            logger: logger
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw StartFailure("cannot listen on \(listen.authority(port: listen.port)): \(error.words)")
        }
    }

    /// The default path of the file with the example API key.
    package static let usualKeyFile = "/tmp/sandbox-api-key"

    /// Returns the configuration that makes a daemon use this sandbox.
    package func configuration(
        of provider: VendorName,
        at origin: String,
        keyFile: String = usualKeyFile
    ) -> DaemonConfiguration? {
        vendors.first { $0.name == provider }?.configuration(at: origin, keyFile: keyFile)
    }
}

extension IOError {
    /// The reason why the sandbox cannot listen, and what to do.
    fileprivate var words: String {
        switch errnoCode {
        case EADDRINUSE:
            "another program has this port, perhaps another junction-sandbox: end that one, or take another port by --listen "
                + "(port 0 is any that is free)"
        case EACCES: "this user may not have a port below 1024: take another one by --listen"
        case EADDRNOTAVAIL:
            "this machine does not have this address: take another one by --listen, such as 127.0.0.1:8787"
        default: "\(String(cString: strerror(errnoCode))): take another address or port by --listen"
        }
    }
}
