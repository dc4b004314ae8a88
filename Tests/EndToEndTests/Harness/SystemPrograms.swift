import Foundation
import Testing

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

extension Trait where Self == ConditionTrait {
    static var needsCurl: Self { .enabled("curl is not installed") { SystemPrograms.has(SystemPrograms.curl) } }

    static var needsOtherUser: Self {
        .enabled("only root with setpriv can act as another user") {
            geteuid() == 0 && SystemPrograms.has(SystemPrograms.setpriv)
        }
    }
}
