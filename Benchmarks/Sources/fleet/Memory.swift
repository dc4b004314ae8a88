import Glibc

/// The memory limit of the program and its use.
enum Memory {
    static let limit = 4 << 30

    /// Sets the limit above which the kernel refuses memory.
    static func bound() {
        var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limits)
    }

    /// The maximum resident memory in bytes.
    static var peak: Int {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
        return usage.ru_maxrss * 1_024
    }
}
