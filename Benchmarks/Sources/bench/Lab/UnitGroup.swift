import CInstruments
import Glibc

/// A control group by the name of a unit: who is in it looks like a process that a service manager has started.
struct UnitGroup {
    let unit: String
    /// The directory that it is.
    let path: String

    /// Heads the note where none can be made.
    static let isLeftOut = "callers that are admitted by their unit are left out"

    /// Makes one that has nobody in it. Whoever supervises us removes it.
    init() throws {
        unit = "junctiond-bench-\(getpid()).service"
        var hierarchy: UnsafePointer<CChar>?
        try check(instruments_make_group(unit, &hierarchy), "making a control group")
        path = "\(String(cString: hierarchy!))/\(unit)"
    }
}
