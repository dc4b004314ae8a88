import Glibc

/// The machine and the time of the measurements.
struct Machine {
    let processor: String
    let count: Int
    let kernel: String
    let load: String

    init() {
        let lines = (try? ProcessFacts.contents(of: "/proc/cpuinfo")) ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        processor = model.map { String($0.drop { $0 == " " }) } ?? "an unknown processor"
        count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let release = (try? ProcessFacts.contents(of: "/proc/sys/kernel/osrelease"))?.first
        kernel = release.map(String.init) ?? "?"
        let loads = (try? ProcessFacts.contents(of: "/proc/loadavg"))?.first?.split(separator: " ").first
        load = loads.map(String.init) ?? "?"
    }

    /// Whether there was other load on the machine.
    var isBusy: Bool { (Double(load) ?? 0) > 0.5 }
}
