import Foundation

/// The service manager's end of socket activation: a listening socket that stays open, whichever process serves it.
final class Listener {
    let descriptor: Int32

    init(at path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        descriptor = makeSocket(AF_UNIX, SOCK_STREAM)
        let isBound = UnixAddress(path).withPointer { bind(descriptor, $0, $1) == 0 }
        guard isBound, listen(descriptor, 128) == 0 else {
            throw Program.Failure(description: "There is no listener at \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }
}
