import JunctionSession
import Testing

@testable import JunctionDaemon

/// A malformed file causes at most an error.
@Suite struct HostileFileTests {
    @Test func `bytes that are not UTF-8 are refused with their line`() {
        let error = #expect(throws: ConfigurationError.self) {
            try settings(Array("[log]\n".utf8) + [0xFF, 0xFE, 0x0A])
        }

        #expect(error?.description == "junctiond.toml:2: not valid UTF-8")
    }

    @Test(
        arguments: [
            "provider = \"junction\"\n\u{0}verbose = 1", "\"provider\\u0000x\" = \"junction\"",
            "provider = \"junction\\U00000000x\"", "# \u{0}\nprovider = \"junction\"",
        ]
    )
    func `a NUL character is refused in names, values and comments`(toml: String) {
        #expect(throws: ConfigurationError.self) { try settings(toml) }
    }

    @Test func `a file above the size limit is refused`() {
        #expect(complaint("#" + String(repeating: "x", count: 1 << 20))?.contains("1048576 bytes") == true)
    }

    @Test(
        arguments: [
            String(repeating: "a.", count: 400_000) + "a = 1",
            "[" + String(repeating: "a.", count: 400_000) + "a]",
            "a = " + String(repeating: "[", count: 400_000),
            "a = " + String(repeating: "{a=", count: 200_000),
            String(repeating: "[[a]]\n", count: 170_000),
            "[[[access]]]", "[", "[[", "[ ]", "[.]", "a = [}]", "a = [=", "a = 1979-05-27T+",
            String(repeating: "[[", count: 100_000),
            String(repeating: "\"", count: 100_001),
            String(repeating: "a.", count: 4_990) + "a = 1",
        ]
    )
    func `deep nesting is refused without a crash`(toml: String) {
        #expect(throws: ConfigurationError.self) { try settings(toml) }
    }

    @Test(arguments: 0..<40)
    func `a randomly changed file causes at most an error`(seed: UInt64) throws {
        var random = Randomness(seed: seed)
        let whole = Array(
            """
            provider = "junction"
            [junction]
            authUrl = 'http://127.0.0.1:8787'
            [limits] # "comment"
            connections = 1_0
            [[access]]
            allow = ["status", "token"]
            unit = "a.service"
            [renewal]
            handlerTimeout = 0x1F
            date = 1979-05-27T07:32:00.999999-07:00
            text = \"""
            several lines \\u00E9
            \"""
            point = { x = 1.5e3, y = [1, 2, [3]] }
            """.utf8
        )

        for _ in 0..<250 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0 ... .max, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
                default: bytes[place] = Array("[]{}\"'=.,#\\\n".utf8).randomElement(using: &random)!
                }
            }
            do throws(ConfigurationError) {
                _ = try settings(bytes)
            } catch {
                #expect(error.description.hasPrefix("junctiond.toml"))
            }
        }
    }
}
