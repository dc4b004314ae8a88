import Glibc

/// The address of a Unix socket, in the kernel's form.
struct UnixAddress {
    private var raw = sockaddr_un()

    /// The longest path, in bytes, without the terminating zero.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    init(path: String) throws(SocketFault) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else {
            throw .impossible(
                "The socket path is \(bytes.count) bytes long, and Linux takes 1 to \(Self.longestPath): \(path)"
            )
        }
        raw.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Returns the path that a socket is bound to; `nil` for a socket without a path.
    static func path(of descriptor: Int32) -> String? {
        var raw = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0, raw.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: &raw.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return path.isEmpty ? nil : path
    }

    /// Returns the bytes of the address that the peer of a connection is bound to. An abstract address begins with
    /// zero, and a peer without an address has none.
    static func bytes(ofPeer descriptor: Int32) -> [UInt8] {
        var raw = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
        }
        let count = Int(size) - (MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: raw.sun_path))
        guard result == 0, raw.sun_family == sa_family_t(AF_UNIX), count > 0 else { return [] }
        return withUnsafeBytes(of: &raw.sun_path) { Array($0.prefix(count)) }
    }

    func bind(_ descriptor: Int32) -> Int32 {
        withAddress { Glibc.bind(descriptor, $0, $1) }
    }

    func connect(_ descriptor: Int32) -> Int32 {
        withAddress { Glibc.connect(descriptor, $0, $1) }
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
