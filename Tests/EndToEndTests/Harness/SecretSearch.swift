import Foundation

/// Searches text and files for secrets.
enum SecretSearch {
    /// Returns the searched forms of each secret: the text and its base64.
    private static func needles(_ secrets: [String]) -> [Data] {
        secrets.flatMap { secret in
            let bytes = Data(secret.utf8)
            return [bytes, Data(bytes.base64EncodedString().trimmingCharacters(in: ["="]).utf8)]
        }
    }

    /// Returns the indices of the secrets in the text. The secrets themselves would be printed in the test's output.
    static func found(_ secrets: [String], in text: Data) -> [Int] {
        secrets.indices.filter { index in
            needles([secrets[index]]).contains { text.firstRange(of: $0) != nil }
        }
    }

    static func found(_ secrets: [String], in text: String) -> [Int] {
        found(secrets, in: Data(text.utf8))
    }

    /// Returns the files that contain a secret.
    static func found(_ secrets: [String], inFilesBelow folder: String) -> [String] {
        FileManager.default.contents(below: folder).filter { !found(secrets, in: $0.bytes).isEmpty }.map(\.path)
    }

    /// Returns whether the text contains a token of the sandbox. Refresh tokens are never shown, so a test cannot know
    /// them.
    static func hasToken(in text: String) -> Bool {
        text.contains(/[ar]t_[0-9a-f]{16}/)
    }
}
