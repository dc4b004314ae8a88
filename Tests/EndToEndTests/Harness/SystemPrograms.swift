import Foundation

/// The paths of programs that some tests need and that may be missing.
enum SystemPrograms {
    static let setpriv = "/usr/bin/setpriv"
    static let unshare = "/usr/bin/unshare"
    static let curl = "/usr/bin/curl"
    static let socketActivate = "/usr/bin/systemd-socket-activate"

    static func has(_ path: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: path)
    }
}
