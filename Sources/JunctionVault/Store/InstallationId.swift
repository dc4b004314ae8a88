import CLinux
import JunctionText

/// The id of this installation, which distinguishes a cloned disk image from the original.
///
/// If two machines renew one session with a refresh token that is valid once, they sign each other out.
package struct InstallationId: Equatable, Sendable {
    /// 32 hexadecimal digits.
    package let text: String
    /// Where the id came from.
    package let source: Source

    package enum Source: Equatable, Sendable {
        /// The file held the id.
        case stored
        /// There was no file: this is a new installation, or an image that was prepared for cloning.
        case created
        /// There was no file, but this temporary file held the id: an earlier process could not sync or rename it.
        case unfinished(StateFile)
        /// The file was not valid. The id of a record that the present key opens is used instead.
        case replaced
    }

    static let length = 32

    init(source: Source) throws(FileFault) {
        var bytes = [UInt8](repeating: 0, count: Self.length / 2)
        let refused = bytes.withUnsafeMutableBytes { clinux_random($0.baseAddress, $0.count) }
        guard refused == 0 else { throw FileFault("read", "the kernel's random numbers", code: refused) }
        text = Hexadecimal.text(bytes)
        self.source = source
    }

    /// Reads the id from its file, or from a temporary file that was never renamed. If neither exists, it creates an
    /// id.
    init(from files: some StateFiles) throws(FileFault) {
        guard let bytes = try files.read(.installation, atMost: 2 * Self.length) else {
            if let unfinished = try Self.unfinished(in: files) {
                self = unfinished
            } else {
                self = try InstallationId(source: .created)
            }
            return
        }
        guard let stored = Self.parse(bytes) else {
            self = try InstallationId(source: .replaced)
            return
        }
        self = InstallationId(stored, .stored)
    }

    init(_ text: String, _ source: Source) {
        self.text = text
        self.source = source
    }

    /// The content of the file.
    var line: [UInt8] { Array("\(text)\n".utf8) }

    /// Whether this installation wrote the record, or may have written it if its own id was damaged.
    func wrote(_ header: RecordHeader) -> Bool {
        header.installation == text || source == .replaced
    }

    private static func unfinished(in files: some StateFiles) throws(FileFault) -> InstallationId? {
        for name in try files.names(in: .stateDirectory).sorted() where StateFile.installation.hasTemporary(named: name)
        {
            let file = StateFile(name)
            guard let bytes = try? files.read(file, atMost: 2 * length), let text = parse(bytes) else { continue }
            return InstallationId(text, .unfinished(file))
        }
        return nil
    }

    private static func parse(_ bytes: [UInt8]) -> String? {
        let text = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        guard text.count == length, text.allSatisfy(Hexadecimal.isLowerCaseDigit) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
