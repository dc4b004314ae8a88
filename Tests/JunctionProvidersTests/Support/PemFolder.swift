import Foundation
import Glibc
import JunctionTesting

/// A temporary folder for PEM files that a test writes, changes and removes.
final class PemFolder {
    private let temporary = TemporaryFolder()
    var folder: String { temporary.path }

    /// Returns a text in the form of a certificate that contains `name`.
    static func certificate(_ name: String) -> String { block("CERTIFICATE", name) }
    static func key(_ name: String) -> String { block("PRIVATE KEY", name) }

    private static func block(_ label: String, _ name: String) -> String {
        let der = Data([0x30, UInt8(name.utf8.count)] + name.utf8)
        return "-----BEGIN \(label)-----\n\(der.base64EncodedString())\n-----END \(label)-----\n"
    }

    func path(_ file: String) -> String { "\(folder)/\(file)" }

    @discardableResult
    func put(_ certificate: String, in file: String) -> String { write(Self.certificate(certificate), in: file) }

    @discardableResult
    func putKey(_ key: String, in file: String) -> String { write(Self.key(key), in: file) }

    /// Overwrites the file in place, without an atomic replacement.
    @discardableResult
    func write(_ text: String, in file: String) -> String {
        let opened = open(path(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(opened, $0.baseAddress, $0.count) }
        close(opened)
        return path(file)
    }

    func move(_ path: String, to file: String) {
        rename(path, self.path(file))
    }

    func link(_ file: String, to target: String) -> String {
        unlink(path(file))
        symlink(target, path(file))
        return path(file)
    }

    func remove(_ file: String) {
        unlink(path(file))
    }

    @discardableResult
    func makePipe(_ file: String) -> String {
        mkfifo(path(file), 0o600)
        return path(file)
    }
}
