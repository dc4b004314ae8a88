import Glibc

/// Other programs of this machine.
enum Program {
    /// Where a program is, if it is there: in a folder of `$PATH`.
    static func path(of name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
