import JunctionSecret
import Testing

@testable import JunctionVault

/// Which credentials of the service manager have been used up.
@Suite struct UsedCredentialsTests {
    private func digest(_ text: String, at installation: String = thisInstallation) -> String {
        UsedCredentials.digest(of: SharedSecret(text: text), installation: installation)
    }

    @Test func `a digest tells credentials and installations apart, and says nothing of them`() {
        #expect(digest("token") == digest("token"))
        #expect(digest("token") != digest("other"))
        #expect(digest("token") != digest("token", at: otherInstallation))
        #expect(digest("token").utf8.count == 64)
    }

    @Test func `what was noted last is what is known`() {
        var used = UsedCredentials()
        #expect(used.stage(of: digest("token")) == nil)

        used.note(.begun, of: digest("token"))
        #expect(used.stage(of: digest("token")) == .begun)
        used.note(.done, of: digest("token"))
        used.note(.begun, of: digest("other"))

        let read = UsedCredentials(parsing: used.text)
        #expect(read == used)
        #expect(read.stage(of: digest("token")) == .done)
        #expect(read.stage(of: digest("other")) == .begun)
    }

    @Test func `a device is never provisioned so often that the file grows`() {
        var used = UsedCredentials()
        for number in 0..<1_000 { used.note(.done, of: digest("\(number)")) }

        #expect(used.text.count <= UsedCredentials.largestFile)
        #expect(used.stage(of: digest("999")) == .done)
    }

    @Test(arguments: ["", "\n\n", "done", "abc done\n", String(repeating: "a", count: 64) + " spent\n", "\0\u{FF}"])
    func `lines that are not ours are passed over`(text: String) {
        #expect(UsedCredentials(parsing: Array(text.utf8)) == UsedCredentials())
    }
}
