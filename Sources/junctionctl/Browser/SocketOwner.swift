import Glibc

/// The user who owns one end of a TCP connection on loopback, from the kernel's table of sockets.
///
/// `/proc/net/tcp` lists IPv4 sockets, and `/proc/net/tcp6` lists IPv6 sockets, which may be connected over IPv4. Each
/// line has the socket's own address, the address of the peer, the state, the owner and the inode.
enum SocketOwner {
    /// One end of a connection.
    struct End {
        /// In network byte order, as in `sockaddr_in`.
        var address: UInt32
        var port: UInt16

        init(address: UInt32, port: UInt16) {
            (self.address, self.port) = (address, port)
        }

        init(_ name: sockaddr_in) {
            self.init(address: name.sin_addr.s_addr, port: UInt16(bigEndian: name.sin_port))
        }

        /// The form in the table: the address in hexadecimal, in the byte order of this machine.
        fileprivate var text: String { address.hexadecimal + ":" + port.hexadecimal }

        /// The form for an IPv6 socket that is connected over IPv4: `::ffff:127.0.0.1`.
        fileprivate var mappedText: String {
            let prefix: [UInt32] = [0, 0, UInt32(0xFFFF).bigEndian]
            return prefix.map(\.hexadecimal).joined() + text
        }
    }

    /// Returns the owner of the end `own` of an established connection to `other`, or nil if the table does not have
    /// it.
    static func user(of own: End, connectedTo other: End) -> uid_t? {
        // The kernel returns the table in pieces, and a line may be missed between two pieces.
        for _ in 0..<3 {
            for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
                if let user = user(of: own, connectedTo: other, in: content(of: table)) { return user }
            }
        }
        return nil
    }

    /// Looks up the owner in the text of a table.
    static func user(of own: End, connectedTo other: End, in table: String) -> uid_t? {
        for line in table.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            guard columns.count > 9, columns[1] == own.text || columns[1] == own.mappedText,
                columns[2] == other.text || columns[2] == other.mappedText
            else { continue }
            // If a process has closed its socket, the kernel lists it without an inode and with root as its owner.
            guard columns[3] == established, columns[9] != "0" else { return nil }
            return uid_t(columns[7]).flatMap { $0 == unknown ? nil : $0 }
        }
        return nil
    }

    /// `TCP_ESTABLISHED`.
    private static let established = "01"
    /// The kernel shows this id for a user of another user namespace (`/proc/sys/kernel/overflowuid`).
    private static let unknown: uid_t = 65534

    private static func content(of file: String) -> String {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}

extension FixedWidthInteger {
    /// The number in hexadecimal, with leading zeros and capital letters.
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
