import JunctionProtocol
import Testing

@testable import junctionctl

/// The code verifier and the state of a browser sign-in.
struct RandomTextTests {
    @Test func `a random text has the length and the characters of an RFC 7636 verifier and is unique`() {
        let texts = (0..<32).map { _ in SecretText.random().revealed() }

        #expect(Set(texts).count == 32)
        for text in texts {
            #expect(text.utf8.count == 43)
            #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        }
        // Each character has six random bits, so all 64 characters occur.
        #expect(Set(texts.joined()).count == 64)
    }
}
