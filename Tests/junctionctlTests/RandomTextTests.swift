import JunctionProtocol
import Testing

@testable import junctionctl

/// The code verifier and the state of a sign-in by browser.
struct RandomTextTests {
    @Test func `a text is as long as RFC 7636 wants a verifier, of its characters, and never the same`() {
        let texts = (0..<32).map { _ in SecretText.random().revealed() }

        #expect(Set(texts).count == 32)
        for text in texts {
            #expect(text.utf8.count == 43)
            #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        }
        // Each character stands for six bits, so all of them come up.
        #expect(Set(texts.joined()).count == 64)
    }
}
