import Foundation

/// Looks for secrets where none may be.
enum Spill {
    /// The forms in which a secret is looked for: as it is, and in base64.
    private static func needles(_ secrets: [String]) -> [Data] {
        secrets.flatMap { secret in
            let bytes = Data(secret.utf8)
            return [bytes, Data(bytes.base64EncodedString().trimmingCharacters(in: ["="]).utf8)]
        }
    }

    /// Which of the secrets are in the text, by their number: the secret itself would end up in the test's output.
    static func of(_ secrets: [String], in text: Data) -> [Int] {
        secrets.indices.filter { index in
            needles([secrets[index]]).contains { text.firstRange(of: $0) != nil }
        }
    }

    static func of(_ secrets: [String], in text: String) -> [Int] {
        of(secrets, in: Data(text.utf8))
    }

    /// The files that hold one of the secrets.
    static func of(_ secrets: [String], inFilesBelow folder: String) -> [String] {
        FileManager.default.contents(below: folder).filter { !of(secrets, in: $0.bytes).isEmpty }.map(\.path)
    }

    /// Whether there is anything in the form of the sandbox's tokens: its refresh tokens are never shown to anybody.
    static func hasToken(in text: String) -> Bool {
        text.contains(/[ar]t_[0-9a-f]{16}/)
    }
}
