import Testing

@testable import JunctionServer

/// The address by which the service manager asks for a credential.
struct CredentialRequestTests {
    private func request(_ text: String) -> CredentialRequest? { CredentialRequest(address: [0] + Array(text.utf8)) }

    @Test(arguments: [
        ("0/unit/a.service/status", "a.service", "status"),
        ("adf9d86b6eda275e/unit/health-sync.service/access-token", "health-sync.service", "access-token"),
        ("1f/unit/a@b.service/user-id", "a@b.service", "user-id"),
        (#"1f/unit/var-lib\x2dx.mount/other_1.2"#, #"var-lib\x2dx.mount"#, "other_1.2"),
        ("1f/unit/a:b_c.d.socket/x", "a:b_c.d.socket", "x"), ("1f/unit/dev-sda1.swap/x", "dev-sda1.swap", "x"),
    ])
    func `an address as systemd writes it names the unit and the credential`(
        address: String,
        unit: String,
        name: String
    ) throws {
        let request = try #require(self.request(address))

        #expect(request.unit == unit)
        #expect(request.name == name)
    }

    @Test(arguments: [
        "", "/", "///", "1f", "1f/unit/a.service", "1f/unit/a.service/x/", "1f/unit/a.service/x/y",
        "/1f/unit/a.service/x",
        "1f//unit/a.service/x", "/unit/a.service/x", "01f/unit/a.service/x", "00/unit/a.service/x",
        "1F/unit/a.service/x",
        "0x1f/unit/a.service/x", "1g/unit/a.service/x", "11111111111111111/unit/a.service/x", "1f/Unit/a.service/x",
        "1f/user/a.service/x", "1f/unit//x", "1f/unit/a.service/", "1f/unit/a/x", "1f/unit/.service/x",
        "1f/unit/a.target/x", "1f/unit/a.Service/x", "1f/unit/a@.service/x", "1f/unit/@b.service/x",
        "1f/unit/a b.service/x", "1f/unit/ä.service/x", "1f/unit/a.service/x y", "1f/unit/a.service/x:y",
        "1f/unit/a.service/x\n", "1f/unit/a.service/x\0", "\0" + "1f/unit/a.service/x", "1f/unit/a.serv\0ice/x",
    ])
    func `an address of any other form is no request`(address: String) {
        #expect(request(address) == nil)
    }

    @Test func `an address without the zero, and an address that is too long, is no request`() {
        let longest = "1f/unit/" + String(repeating: "a", count: 106 - "1f/unit/.service/x".utf8.count) + ".service/x"

        #expect(request(longest) != nil)
        #expect(request(longest + "x") == nil)
        #expect(CredentialRequest(address: Array("1f/unit/a.service/x".utf8)) == nil)
        #expect(CredentialRequest(address: []) == nil)
        #expect(CredentialRequest(address: Array("1f/unit/".utf8) + [0xFF] + Array(".service/x".utf8)) == nil)
    }
}
