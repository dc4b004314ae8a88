import Foundation

/// A private certificate authority, made by `openssl` once for all tests.
struct TestAuthority: Sendable {
    /// The PEM files of one server.
    struct Certificate: Sendable {
        var chain: String
        var key: String
    }

    /// `nil` where openssl is not installed.
    static let shared = try? TestAuthority()
    static var isAvailable: Bool { shared != nil }

    private let folder: URL

    var caFile: String { folder.appending(path: "ca.pem").path }

    /// A server's certificate for these names (`DNS:localhost`, `IP:127.0.0.1`).
    func server(for names: String) throws -> Certificate {
        let name = UUID().uuidString
        let key = folder.appending(path: "\(name).key").path
        let request = folder.appending(path: "\(name).csr").path
        let certificate = folder.appending(path: "\(name).pem").path
        let extensions = folder.appending(path: "\(name).ext")
        try "subjectAltName=\(names)".write(to: extensions, atomically: true, encoding: .utf8)
        try Self.openssl("req \(Self.newKey) -subj /CN=scripted -keyout \(key) -out \(request)")
        // A serial number of its own: a file of them would be written by several tests at once.
        try Self.openssl(
            "x509 -req -in \(request) -CA \(caFile) -CAkey \(folder.path)/ca.key "
                + "-set_serial \(UInt32.random(in: 1 ... .max)) -days 2 -extfile \(extensions.path) -out \(certificate)"
        )
        return Certificate(chain: certificate, key: key)
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "junction-ca-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.openssl(
            "req -x509 \(Self.newKey) -days 2 -subj /CN=junction-tests "
                + "-keyout \(folder.path)/ca.key -out \(folder.path)/ca.pem"
        )
    }

    private static let newKey = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static func openssl(_ arguments: String) throws {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "openssl \(arguments): \(String(decoding: said, as: UTF8.self))")
        }
    }
}
