import Foundation

/// A certificate authority for one test, created with `openssl`.
package struct TestAuthority: Sendable {
    /// The PEM files of one server certificate.
    package struct Certificate: Sendable {
        package let chain: String
        package let key: String
        fileprivate let folder: TemporaryFolder
    }

    package static let isAvailable = FileManager.default.isExecutableFile(atPath: openssl)

    /// The path of the authority's own certificate (PEM).
    package let file: String
    private let key: String
    private let folder: TemporaryFolder

    private static let openssl = "/usr/bin/openssl"
    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    package init(in folder: TemporaryFolder = TemporaryFolder()) throws {
        self.folder = folder
        (file, key) = (folder.path + "/ca.pem", folder.path + "/ca.key")
        let request = ["req", "-x509", "-days", "2", "-subj", "/CN=Test authority"]
        try run(request + ["-keyout", key, "-out", file] + Self.newKey)
    }

    /// Creates a server certificate for these names.
    package func certificate(for names: String = "IP:127.0.0.1,DNS:localhost") throws -> Certificate {
        let (key, request) = (folder.fresh("server.key"), folder.fresh("server.csr"))
        let (chain, extensions) = (folder.fresh("server.pem"), folder.fresh("names.cnf"))
        try Data("subjectAltName=\(names)\n".utf8).write(to: URL(filePath: extensions))
        try run(["req", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", request] + Self.newKey)
        try run([
            "x509", "-req", "-in", request, "-CA", file, "-CAkey", self.key, "-CAcreateserial", "-days", "2",
            "-extfile", extensions, "-out", chain,
        ])
        return Certificate(chain: chain, key: key, folder: folder)
    }

    private func run(_ arguments: [String]) throws {
        let ending = try Program(Self.openssl, arguments, in: folder).wait()
        guard ending.status == 0 else { throw TestFailure(description: "openssl: \(ending.errors)") }
    }
}

/// The program `Tests/tls-front`, a TLS proxy in front of a loopback port that speaks plain text.
package final class TLSFront: Sendable {
    package let port: Int
    private let program: Program

    /// Starts the proxy and returns when it listens.
    package init(_ certificate: TestAuthority.Certificate, before plain: Int) throws {
        let arguments = [certificate.chain, certificate.key, "\(plain)"]
        let front = try RunningProgram(Program.root + "/Tests/tls-front", arguments, in: certificate.folder)
        guard let port = try front.lines.next().flatMap({ Int($0) }) else {
            throw TestFailure(description: "tls-front did not start, it needs python3: \(front.program.errors)")
        }
        (self.port, program) = (port, front.program)
    }

    package var origin: String { "https://127.0.0.1:\(port)" }

    /// Kills the proxy. Its open connections end too.
    package func stop() { program.signal(SIGKILL) }
}
