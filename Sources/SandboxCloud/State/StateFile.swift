import FoundationEssentials

/// The JSON file that lets a restarted cloud know its users and their tokens again.
struct StateFile: Sendable {
    let path: String

    /// What was saved last, or `nil` if there is no file yet.
    func load() throws(StartFailure) -> CloudState? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try decoder.decode(CloudState.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw StartFailure(
                description: "the state file \(path) cannot be read as the sandbox's state; move it away to start empty"
            )
        }
    }

    func save(_ state: CloudState) throws(StartFailure) {
        do {
            try encoder.encode(state).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw StartFailure(
                description: "the state file \(path) cannot be written; is its folder there and writable?"
            )
        }
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
