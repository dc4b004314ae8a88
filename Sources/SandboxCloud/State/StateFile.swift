import FoundationEssentials
import Glibc

/// The JSON file with the state that survives a restart.
struct StateFile: Sendable {
    let path: String

    /// Returns the saved state, or `nil` if there is no file yet.
    func load() throws(StartFailure) -> CloudState? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try decoder.decode(CloudState.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw StartFailure(
                "the state file \(path) cannot be read as the sandbox's state; move it away to start empty"
            )
        }
    }

    func save(_ state: CloudState) throws(StartFailure) {
        do {
            try replace(with: try encoder.encode(state))
        } catch {
            throw StartFailure("the state file \(path) cannot be written; is its folder there and writable?")
        }
    }

    /// Replaces the file. It is created with mode 0600 because it contains secrets.
    private func replace(with text: Data) throws {
        let temporary = "\(path).tmp"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(descriptor) }
        var rest = text[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { throw CocoaError(.fileWriteUnknown) }
            rest = rest.dropFirst(max(0, written))
        }
        guard rename(temporary, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    private var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return encoder
    }

    private var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return decoder
    }
}
