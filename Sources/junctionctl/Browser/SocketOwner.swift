import Glibc

/// The user who owns one end of a TCP connection on loopback, by the kernel's table of sockets.
///
/// `/proc/net/tcp` lists IPv4 sockets, and `/proc/net/tcp6` those IPv6 sockets that speak IPv4. Each line has the socket's own
/// address, that of its other end, its state, its owner and its inode.
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

        /// As the table writes it: the address as a number of this machine, in hexadecimal.
        fileprivate var text: String { address.hexadecimal + ":" + port.hexadecimal }

        /// The same for an IPv6 socket that is connected over IPv4: `::ffff:127.0.0.1`.
        fileprivate var mappedText: String {
            let prefix: [UInt32] = [0, 0, UInt32(0xFFFF).bigEndian]
            return prefix.map(\.hexadecimal).joined() + text
        }
    }

    /// The owner of the end `own` of an established connection to `other`; nothing where the table does not say.
    static func user(of own: End, connectedTo other: End) -> uid_t? {
        // The kernel hands the table out in pieces, between which a line can be passed over.
        for _ in 0..<3 {
            for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
                if let user = user(of: own, connectedTo: other, in: content(of: table)) { return user }
            }
        }
        return nil
    }

    /// The same with the text of a table.
    static func user(of own: End, connectedTo other: End, in table: String) -> uid_t? {
        for line in table.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            guard columns.count > 9, columns[1] == own.text || columns[1] == own.mappedText,
                columns[2] == other.text || columns[2] == other.mappedText
            else { continue }
            // A socket that its process has closed has no inode, and belongs to root for the kernel.
            guard columns[3] == established, columns[9] != "0" else { return nil }
            return uid_t(columns[7]).flatMap { $0 == unknown ? nil : $0 }
        }
        return nil
    }

    /// `TCP_ESTABLISHED`.
    private static let established = "01"
    /// Who a user of another user namespace is to us (`/proc/sys/kernel/overflowuid`).
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
    /// In all its digits, in capitals.
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16, uppercase: true)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
