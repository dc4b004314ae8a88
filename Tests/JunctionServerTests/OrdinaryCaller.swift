import Glibc
import JunctionTesting

/// A user that is neither root nor the one who runs the tests.
struct OrdinaryCaller: Sendable {
    var user: UInt32 = 12_345
    var group: UInt32 = 23_456
    var supplementaryGroups: [UInt32] = []

    /// Only root may speak as somebody else.
    static var isPossible: Bool { geteuid() == 0 }

    /// Connects as this user.
    ///
    /// On Linux, credentials belong to the thread. The C library hides that and changes all threads; the system call
    /// underneath does not. So a thread of its own takes the identity on, connects, and ends.
    func connect(_ path: String) throws -> TestClient {
        try asThis { try TestClient(path) }
    }

    /// Visits as this user.
    func visit(_ server: TestServer) throws -> DoorClient {
        let path = try server.openDoor()
        return try asThis { try DoorClient(.path(path), to: server) }
    }

    private func asThis<Client: Sendable>(_ connect: @escaping @Sendable () throws -> Client) throws -> Client {
        let result = Box<Client>()
        let thread = Thread { [self] in
            becomeThis()
            result.set { try connect() }
        }
        thread.join()
        return try result.get()
    }

    private func becomeThis() {
        let call = unsafeBitCast(dlsym(nil, "syscall"), to: SystemCall.self)
        _ = supplementaryGroups.withUnsafeBufferPointer { groups in
            call(SystemCallNumber.setgroups, groups.count, Int(bitPattern: groups.baseAddress), 0)
        }
        _ = call(SystemCallNumber.setresgid, Int(group), Int(group), Int(group))
        _ = call(SystemCallNumber.setresuid, Int(user), Int(user), Int(user))
    }

    private typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int
}

private enum SystemCallNumber {
    #if arch(x86_64)
    static let (setgroups, setresuid, setresgid) = (116, 117, 119)
    #else
    // The numbers of every architecture that came to Linux later.
    static let (setgroups, setresuid, setresgid) = (159, 147, 149)
    #endif
}
