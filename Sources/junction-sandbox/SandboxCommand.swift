import ArgumentParser
import Glibc
import Logging
import SandboxCloud

/// The door of the sandbox: arguments in, one line out once it listens, exit code at the end.
@main
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "junction-sandbox",
        abstract: "A local stand-in for the cloud services that junctiond talks to.",
        discussion: """
            It serves Junction's auth server and API at one origin, on loopback only, and /sandbox endpoints to \
            drive and break it. Prints 'junction-sandbox listening on ORIGIN' when it listens.
            """,
        version: "junction-sandbox 0.1.0"
    )

    @Option(help: "Where to listen: a loopback address and a port; port 0 takes any that is free.")
    var listen = "127.0.0.1:8787"

    @Option(help: "How many seconds an access token lives.")
    var accessTokenLifetime = 3600.0

    @Option(help: "How many seconds a replaced refresh token may be used again.")
    var rotationGrace = 30.0

    @Option(help: "Keep users and tokens in this file, so that they outlive a restart.")
    var state: String?

    @Option(name: .customLong("tls-certificate"), help: "Serve TLS with this certificate (PEM, with its chain).")
    var certificate: String?

    @Option(name: .customLong("tls-key"), help: "The key of that certificate (PEM).")
    var key: String?

    func validate() throws {
        do {
            _ = try ListenAddress(listen)
        } catch {
            throw ValidationError(error.description)
        }
        guard Settings.durations.contains(accessTokenLifetime), Settings.durations.contains(rotationGrace) else {
            throw ValidationError("durations are seconds from 0 to \(Int(Settings.durations.upperBound))")
        }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--tls-certificate and --tls-key belong together")
        }
    }

    func run() async throws {
        // Every change is on disk before it is answered, so there is nothing to put in order first.
        for stop in [SIGTERM, SIGINT] { signal(stop) { _ in _exit(0) } }

        do {
            try await cloud().run { origin in
                say("junction-sandbox listening on \(origin)", to: STDOUT_FILENO)
            }
        } catch {
            say("junction-sandbox: \(error)", to: STDERR_FILENO)
            throw ExitCode(EX_CANTCREAT)
        }
    }

    private func cloud() throws -> SandboxCloud {
        var configuration = SandboxConfiguration(listen: try ListenAddress(listen))
        configuration.settings.accessTokenLifetime = accessTokenLifetime
        configuration.settings.rotationGrace = rotationGrace
        configuration.stateFile = state
        if let certificate, let key {
            configuration.tls = SandboxConfiguration.TLSFiles(certificate: certificate, key: key)
        }
        var logger = Logger(label: "junction-sandbox") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return try SandboxCloud(configuration, logger: logger)
    }
}

/// Writes one line at once: whoever started the sandbox waits for it.
private func say(_ line: String, to descriptor: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
}
