import Foundation

/// `Tests/tls-front` before a plain port: the side of TLS that a vendor has.
final class TLSFront: Sendable {
    let port: Int
    private let process: Process

    /// Listens when this returns.
    init(_ certificate: TestAuthority.Certificate, before plain: Int) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../tls-front").standardizedFileURL
        process.arguments = [certificate.chain, certificate.key, "\(plain)"]
        process.standardOutput = output
        try process.run()
        // One line is all that it ever says.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .newlines)) else {
            kill(process.processIdentifier, SIGKILL)
            throw Silence()
        }
        self.process = process
        self.port = port
    }

    /// Ends it, with the connections that are open. It has the signal mask of the thread that started it, which may block SIGTERM.
    func stop() {
        kill(process.processIdentifier, SIGKILL)
    }

    private struct Silence: Error, CustomStringConvertible {
        var description: String { "Tests/tls-front did not say where it listens: it needs python3" }
    }
}
