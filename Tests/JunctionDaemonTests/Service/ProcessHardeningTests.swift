import Glibc
import Testing

@testable import JunctionDaemon

@Suite struct ProcessHardeningTests {
    @Test func `hardening forbids dumps, ignores SIGPIPE and raises the descriptor limit`() async {
        // In a process of its own, because these attributes belong to the whole process.
        await #expect(processExitsWith: .success) {
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var low = rlimit()
            getrlimit(descriptors, &low)
            low.rlim_cur = min(64, low.rlim_max)
            setrlimit(descriptors, &low)

            #expect(ProcessHardening.apply() == [])

            var core = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
            #expect(core.rlim_max == 0)
            var raised = rlimit()
            getrlimit(descriptors, &raised)
            #expect(raised.rlim_cur == raised.rlim_max)
            #expect(umask(0o077) == 0o077)
            // If SIGPIPE were not ignored, it would end the process here.
            #expect(raise(SIGPIPE) == 0)
            // If a process is not dumpable, its memory and its files in /proc belong to root.
            var owner = stat()
            #expect(stat("/proc/self/mem", &owner) == 0)
            #expect(owner.st_uid == 0)
        }
    }

    @Test func `resident memory can be read`() throws {
        let bytes = try #require(ResidentMemory.bytes())

        #expect(bytes > 1 << 20)
        #expect(bytes < 1 << 40)
    }
}
