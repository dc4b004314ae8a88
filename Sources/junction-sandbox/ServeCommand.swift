import ArgumentParser
import Glibc
import Logging
import SandboxCloud

/// `junction-sandbox [serve]`: serves until a signal ends the process.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the vendors' clouds on loopback (what happens without a subcommand).",
        discussion: """
            It serves Junction's auth server and API and the other vendors' endpoints at one origin, on loopback \
            only, and /sandbox endpoints to drive and break them. Prints 'junction-sandbox listening on ORIGIN' when \
            it listens, and then export lines for a daemon in the same shell. A browser shows a page at ORIGIN.
            """
    )

    @Option(help: "Where to listen: a loopback address and a port; port 0 takes any that is free.")
    var listen = "127.0.0.1:8787"

    @Option(help: "How many seconds an access token lives; without it, as long as the vendor's usually do.")
    var accessTokenLifetime: Double?

    @Option(help: "How many seconds a replaced refresh token may be used again.")
    var rotationGrace = 30.0

    @Option(help: "Keep users and tokens in this file, so that they outlive a restart.", completion: .file())
    var state: String?

    @Option(help: "The origin of a TLS front that stands before it, such as https://localhost:8443.")
    var origin: String?

    @Option(help: "The application that Sinch knows, instead of that of the published test vectors.")
    var sinchApplicationKey: String?

    @Option(help: "A file with the secret of that application, in Base64.", completion: .file())
    var sinchSecretFile: String?

    @Option(help: "Write a configuration file for a daemon that is to use it.", completion: .file())
    var writeConfig: String?

    @Option(help: "Whose sessions that daemon is to keep: junction, social, sinch or oauth.")
    var provider = VendorName.junction

    func validate() throws {
        do {
            _ = try ListenAddress(listen)
        } catch {
            throw ValidationError("--listen: \(error.description)")
        }
        do {
            if let origin { _ = try FrontOrigin(origin) }
        } catch {
            throw ValidationError("--origin: \(error.description)")
        }
        guard Settings.durations.contains(accessTokenLifetime ?? 0), Settings.durations.contains(rotationGrace) else {
            throw ValidationError("durations are seconds from 0 to \(Int(Settings.durations.upperBound))")
        }
        guard (sinchApplicationKey == nil) == (sinchSecretFile == nil) else {
            throw ValidationError("--sinch-application-key and --sinch-secret-file belong together")
        }
    }

    func run() async throws {
        // Every change is on disk before the sandbox answers, so an immediate exit loses nothing.
        for stop in [SIGTERM, SIGINT] { signal(stop) { _ in _exit(0) } }

        do {
            let cloud = try cloud()
            try await cloud.run { origin in
                do {
                    let lines = try announcement(of: cloud, at: origin)
                    // A single write, because a program may read only the first line.
                    say(lines.joined(separator: "\n"), to: STDOUT_FILENO)
                } catch {
                    say("junction-sandbox: \(error)", to: STDERR_FILENO)
                    _exit(EX_CANTCREAT)
                }
            }
        } catch {
            say("junction-sandbox: \(error)", to: STDERR_FILENO)
            throw ExitCode(EX_CANTCREAT)
        }
    }

    private func announcement(of cloud: SandboxCloud, at origin: String) throws -> [String] {
        var lines = ["junction-sandbox listening on \(origin)", "export S=\(ShellText.quoted(origin))"]
        if let writeConfig {
            let file = try ConfigurationFile(writeConfig)
            try file.write { cloud.configuration(of: provider, at: origin, keyFile: $0) }
            lines.append("export JUNCTIOND_CONFIG=\(ShellText.quoted(file.path))")
        } else {
            lines += cloud.configuration(of: provider, at: origin)?.exports ?? []
        }
        return lines
    }

    private func cloud() throws -> SandboxCloud {
        var configuration = SandboxConfiguration(listen: try ListenAddress(listen))
        configuration.settings.general.accessTokenLifetime = accessTokenLifetime
        configuration.settings.general.rotationGrace = rotationGrace
        configuration.stateFile = state
        configuration.front = try origin.map(FrontOrigin.init)
        if let sinchApplicationKey, let sinchSecretFile {
            let text = String(
                decoding: try SecretFile(sinchSecretFile, givenTo: "--sinch-secret-file").text,
                as: UTF8.self
            )
            configuration.sinch = try SinchApplication(key: sinchApplicationKey, secretText: text)
        }
        var logger = Logger(label: "junction-sandbox") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return try SandboxCloud(configuration, logger: logger)
    }
}

extension VendorName: ExpressibleByArgument {}
