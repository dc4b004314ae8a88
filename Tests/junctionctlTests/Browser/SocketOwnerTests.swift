import Glibc
import Testing

@testable import junctionctl

/// The owner of a loopback connection, from the kernel's table of sockets.
struct SocketOwnerTests {
    private static let loopback = INADDR_LOOPBACK.bigEndian
    private let browser = SocketOwner.End(address: loopback, port: 0xBEEF)
    private let listener = SocketOwner.End(address: loopback, port: 0x1F90)

    private func table(_ lines: String...) -> String {
        (["  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"] + lines)
            .joined(separator: "\n") + "\n"
    }

    private func line(_ own: String, _ other: String, _ state: String, user: String, inode: String = "4711") -> String {
        "   3: \(own) \(other) \(state) 00000000:00000000 00:00000000 00000000  \(user)        0 \(inode) 1 0000 20 4 30 10 -1"
    }

    private func user(_ table: String) -> uid_t? {
        SocketOwner.user(of: browser, connectedTo: listener, in: table)
    }

    @Test func `the owner is the one of the browser's end`() {
        let text = table(
            line("0100007F:1F90", "0100007F:BEEF", "01", user: "0"),
            line("0100007F:BEEE", "0100007F:1F90", "01", user: "7"),
            line("0100007F:BEEF", "0100007F:1F90", "01", user: "1000")
        )

        #expect(user(text) == 1000)
    }

    @Test func `an IPv6 socket that is connected over IPv4 has an owner`() {
        let mapped = "0000000000000000FFFF00000100007F"

        #expect(user(table(line("\(mapped):BEEF", "\(mapped):1F90", "01", user: "1001"))) == 1001)
    }

    @Test(arguments: [
        // The kernel lists root as the owner of time-wait and closed sockets.
        ("0100007F:BEEF", "0100007F:1F90", "06", "0", "0"), ("0100007F:BEEF", "0100007F:1F90", "04", "0", "0"),
        ("0100007F:BEEF", "0100007F:1F90", "01", "0", "0"),
        // Another connection of the same port is being established.
        ("0100007F:BEEF", "0100007F:1F90", "02", "1000", "4711"), ("0100007F:BEEF", "0100007F:1F91", "01", "1000", "1"),
        ("0200007F:BEEF", "0100007F:1F90", "01", "1000", "4711"), ("0100007F:BEEF", "0100007F:1F90", "01", "x", "4711"),
        // A user that this user namespace does not know.
        ("0100007F:BEEF", "0100007F:1F90", "01", "65534", "4711"),
    ])
    func `a line without a certain owner gives no owner`(
        own: String,
        other: String,
        state: String,
        owner: String,
        inode: String
    ) {
        #expect(user(table(line(own, other, state, user: owner, inode: inode))) == nil)
    }

    @Test(arguments: ["", "sl\n", "sl\n\n \n1: 2 3\n"])
    func `an invalid table gives no owner`(text: String) {
        #expect(user(text) == nil)
    }
}
