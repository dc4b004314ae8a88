import Glibc
import JunctionSecret
import Testing

@Suite struct SecretTests {
    @Test func `a secret lends exactly the bytes that were put into it`() {
        let secret = Secret(capacity: 8) { room in
            room.copyBytes(from: [1, 2, 3] as [UInt8])
            return 3
        }

        let lent = secret.withUnsafeBytes { Array($0) }

        #expect(secret.count == 3)
        #expect(lent == [1, 2, 3])
    }

    @Test func `a secret may be empty`() {
        let secret = SharedSecret(text: "")

        #expect(secret.count == 0)
        #expect(secret.withUnsafeBytes { $0.isEmpty })
    }

    @Test func `a secret whose filling fails is not made`() {
        struct Interrupted: Error {}

        #expect(throws: Interrupted.self) {
            let secret = try Secret(capacity: 32) { room in
                room.initializeMemory(as: UInt8.self, repeating: 0xAB)
                throw Interrupted()
            }
            Issue.record("Made a secret of \(secret.count) bytes")
        }
    }

    @Test func `wiped memory contains only zeros`() {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0xAB)

        wipe(bytes)

        #expect(bytes.allSatisfy { $0 == 0 })
    }

    @Test func `wiping an empty buffer does nothing`() {
        wipe(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    @Test(arguments: [("abc", "abc", true), ("abc", "abd", false), ("abc", "ab", false), ("", "", true)])
    func `two secrets match if they hold the same bytes`(left: String, right: String, same: Bool) {
        #expect(SharedSecret(text: left).matches(SharedSecret(text: right)) == same)
    }

    @Test func `a shared secret is never printed`() {
        let secret = SharedSecret(text: "hunter2")

        var dumped = ""
        dump([secret], to: &dumped)

        #expect("\(secret)" == "‹secret›")
        #expect(!String(reflecting: secret).contains("hunter2"))
        #expect(!dumped.contains("hunter2"))
    }

    @Test func `filling a secret past its capacity stops the process`() async {
        await #expect(processExitsWith: .failure) {
            _ = Secret(capacity: 4) { _ in 5 }
        }
    }
}
