package import Foundation

/// The address of a socket.
package enum TestAddress: Sendable {
    case path(String)
    /// A Unix socket in the abstract namespace, which has no file.
    case abstract(String)
    /// A port of 127.0.0.1. Port 0 means any free port. With `overIPv6`, an IPv6 socket connects to the IPv4-mapped
    /// address.
    case loopback(port: UInt16, overIPv6: Bool = false)

    /// A new abstract name that no other socket has.
    package static var unusedAbstract: TestAddress { .abstract("junctiond-test-\(UUID().uuidString)") }

    /// Creates a close-on-exec socket of the family of this address.
    package func makeSocket(_ type: __socket_type = SOCK_STREAM) -> Int32 {
        let family =
            switch self {
            case .path, .abstract: AF_UNIX
            case .loopback(_, let overIPv6): overIPv6 ? AF_INET6 : AF_INET
            }
        return socket(family, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    package func bind(_ descriptor: Int32) -> Bool { with { Glibc.bind(descriptor, $0, $1) == 0 } }

    package func connect(_ descriptor: Int32) -> Bool { with { Glibc.connect(descriptor, $0, $1) == 0 } }

    private func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .path(let path): Self.withUnix(Array(path.utf8) + [0], body)
        case .abstract(let name): Self.withUnix([0] + Array(name.utf8), body)
        case .loopback(let port, overIPv6: false):
            Self.with(Self.loopback(port), MemoryLayout<sockaddr_in>.size, body)
        case .loopback(let port, overIPv6: true):
            Self.with(Self.mappedLoopback(port), MemoryLayout<sockaddr_in6>.size, body)
        }
    }

    private static func withUnix<Result>(
        _ name: [UInt8],
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { space in
            precondition(name.count <= space.count, "The path is too long for a socket")
            space.copyBytes(from: name)
        }
        return with(address, MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count, body)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }

    private static func mappedLoopback(_ port: UInt16) -> sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr)
        return address
    }

    private static func with<Address, Result>(
        _ address: Address,
        _ size: Int,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
        }
    }
}

/// Creates two connected sockets. Both are close-on-exec.
package func makeSocketPair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw TestFailure("socketpair", errno: errno) }
    return (ends[0], ends[1])
}
