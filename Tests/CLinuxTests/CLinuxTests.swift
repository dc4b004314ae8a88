import CLinux
import Foundation
import JunctionTesting
import Testing

@Suite struct CLinuxTests {
    @Test func `a socket's peer credentials are those of its creator`() throws {
        let (one, other) = try makeSocketPair()
        defer { for end in [one, other] { close(end) } }
        var (process, user, group): (Int32, UInt32, UInt32) = (0, 0, 0)

        #expect(clinux_peer_credentials(one, &process, &user, &group) == 0)

        #expect((process, user, group) == (getpid(), getuid(), getgid()))
    }

    @Test func `the peer's groups are complete, or ERANGE returns their number`() throws {
        let (one, other) = try makeSocketPair()
        defer { for end in [one, other] { close(end) } }
        var expected = [UInt32](repeating: 0, count: 65_536)
        expected.removeLast(expected.count - Int(getgroups(65_536, &expected)))

        var groups = [UInt32](repeating: 0, count: 65_536)
        var count = groups.count
        #expect(clinux_peer_groups(one, &groups, &count) == 0)
        #expect(Array(groups.prefix(count)) == expected)

        if !expected.isEmpty {
            count = 0
            #expect(clinux_peer_groups(one, &groups, &count) == ERANGE)
            #expect(count == expected.count)
        }
    }

    @Test func `peer credentials of an invalid descriptor fail with EBADF`() {
        var (process, user, group): (Int32, UInt32, UInt32) = (0, 0, 0)

        #expect(clinux_peer_credentials(-1, &process, &user, &group) == EBADF)
    }

    @Test func `accept fails on a socket that does not listen`() throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }

        #expect(clinux_accept(listener) == -EINVAL)
    }

    @Test func `the pages of the stack that are not in use are returned`() {
        let deepest = addressOnStack(depth: 1_000)
        #expect(isInMemory(deepest))

        _ = clinux_return_memory()

        #expect(!isInMemory(deepest))
    }

    @Test func `the clocks return plausible times`() {
        #expect(clinux_wall_milliseconds() > 1_700_000_000_000)
        #expect(clinux_boot_milliseconds() > 0)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, 1_000])
    func `an alarm for a past time rings at once`(time: Int64) {
        let alarm = clinux_alarm_create()
        defer { close(alarm) }

        #expect(clinux_alarm_set(alarm, time) == 0)
        #expect(clinux_alarm_wait(alarm) == 0)
    }

    @Test func `an alarm for a later time or a disarmed alarm does not ring`() {
        let alarm = clinux_alarm_create()
        defer { close(alarm) }
        var poll = pollfd(fd: alarm, events: Int16(POLLIN), revents: 0)

        #expect(clinux_alarm_set(alarm, clinux_wall_milliseconds() + 3_600_000) == 0)
        #expect(Foundation.poll(&poll, 1, 0) == 0)

        #expect(clinux_alarm_set(alarm, 1) == 0)
        #expect(clinux_alarm_disarm(alarm) == 0)
        #expect(Foundation.poll(&poll, 1, 0) == 0)
    }

    @Test func `random bytes fill the whole buffer and differ each time`() {
        var (first, second) = ([UInt8](repeating: 0, count: 4096), [UInt8](repeating: 0, count: 4096))

        #expect(clinux_random(&first, first.count) == 0)
        #expect(clinux_random(&second, second.count) == 0)

        #expect(first != second)
        #expect(first.suffix(32).contains { $0 != 0 })
    }

    @Test func `a sealed memory file cannot be changed`() throws {
        let file = clinux_memory_file("test")
        defer { close(file) }
        #expect(write(file, "abc", 3) == 3)
        #expect(clinux_memory_file_is_sealed(file) == 0)

        #expect(clinux_seal_memory_file(file) == 0)

        #expect(clinux_memory_file_is_sealed(file) == 1)
        #expect(write(file, "d", 1) == -1)
        #expect(ftruncate(file, 0) == -1)
    }

    @Test func `a rename refuses an existing name and can exchange two names`() throws {
        let temporary = TemporaryFolder()
        try temporary.write([1], to: "a")
        try temporary.write([2], to: "b")

        let (a, b) = ("\(temporary.path)/a", "\(temporary.path)/b")
        #expect(clinux_rename_without_replacing(AT_FDCWD, a, AT_FDCWD, b) == EEXIST)
        #expect(clinux_rename_exchanging(AT_FDCWD, a, AT_FDCWD, b) == 0)

        #expect(temporary.read("a") == [2])
        #expect(temporary.read("b") == [1])
    }

    @Test func `a process that forbids dumps is not dumpable`() async {
        await #expect(processExitsWith: .success) {
            try #require(clinux_forbid_dumps() == 0)
            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            try #require(limit.rlim_cur == 0 && limit.rlim_max == 0)
            // If a process is not dumpable, its files in /proc belong to root, and no other user can open its memory.
            if geteuid() != 0 { try #require(Foundation.open("/proc/self/mem", O_RDONLY) == -1) }
        }
    }

    @Test func `a closed standard descriptor is occupied, and reads and writes on it fail`() async {
        await #expect(processExitsWith: .success) {
            for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { close(descriptor) }

            let failure = clinux_occupy_standard_descriptors()

            var byte: UInt8 = 0
            guard failure == 0, Foundation.open("/dev/null", O_RDONLY) > STDERR_FILENO,
                read(STDIN_FILENO, &byte, 1) < 0, write(STDOUT_FILENO, &byte, 1) < 0, write(STDERR_FILENO, &byte, 1) < 0
            else { exit(1) }
            exit(0)
        }
    }

    @Test func `an open standard descriptor is unchanged`() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) == STDERR_FILENO,
                clinux_occupy_standard_descriptors() == 0
            else { exit(1) }
            var byte: UInt8 = 7
            guard write(STDERR_FILENO, &byte, 1) == 1, read(ends[0], &byte, 1) == 1, byte == 7 else { exit(1) }
            exit(0)
        }
    }
}

/// The address of a variable this many frames below the caller.
private func addressOnStack(depth: Int) -> UInt {
    var variable = depth
    return withUnsafeMutablePointer(to: &variable) {
        $0.pointee == 0 ? UInt(bitPattern: $0) : addressOnStack(depth: $0.pointee - 1)
    }
}

private func isInMemory(_ address: UInt) -> Bool {
    let page = UInt(getpagesize())
    var answer: UInt8 = 0
    return mincore(UnsafeMutableRawPointer(bitPattern: address / page * page), 1, &answer) == 0 && answer & 1 == 1
}
