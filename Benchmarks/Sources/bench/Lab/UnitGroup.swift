import CInstruments
import Glibc

/// A control group with the name of a unit: its processes look like those of a systemd unit.
struct UnitGroup {
    let unit: String
    /// The path of the group.
    let path: String

    /// The start of the note if none can be created.
    static let isLeftOut = "callers that are admitted by their unit are left out"

    /// Creates an empty group, which the supervisor removes.
    init() throws {
        unit = "junctiond-bench-\(getpid()).service"
        var hierarchy: UnsafePointer<CChar>?
        try check(instruments_make_group(unit, &hierarchy), "making a control group")
        path = "\(String(cString: hierarchy!))/\(unit)"
    }
}
