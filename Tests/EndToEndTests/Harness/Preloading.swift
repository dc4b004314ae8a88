import Foundation
import JunctionTesting

/// The C files in `Shims`, preloaded into a daemon: they stand between it and the kernel, and each does nothing unless
/// it is named a folder to be driven from.
enum Preloading {
    /// The library, built once in each run of the tests, beside the programs.
    private static let library = Result { try build() }

    /// Has the daemon preload the library from its next start on, and names the folder to one of the shims.
    static func prepare(_ installation: Installation, _ variable: String, folder: String) throws {
        installation.daemonEnvironment["LD_PRELOAD"] = try library.get()
        installation.daemonEnvironment[variable] = folder
    }

    private static func build() throws -> String {
        let sources = Program.root + "/Tests/EndToEndTests/Shims/"
        let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".c") }
        let library = Program.folder + "/EndToEndShims.so"
        // Another run of the tests may build it too, or have daemons that use it.
        let fresh = library + ".\(getpid())"
        let arguments = ["-shared", "-fPIC", "-O1", "-o", fresh] + files.map { sources + $0 }
        let ending = try Program(try compiler, arguments, in: TemporaryFolder()).wait()
        guard ending.status == 0, rename(fresh, library) == 0 else {
            throw Program.Failure(description: "The shims cannot be built: \(ending.errors)")
        }
        return library
    }

    /// Swift brings clang along; where only `swift` is in the path, there is the system's compiler.
    private static var compiler: String {
        get throws {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            let candidates = ["clang", "cc", "gcc"].flatMap { name in folders.map { "\($0)/\(name)" } }
            guard let found = candidates.first(where: FileManager.default.isExecutableFile) else {
                throw Program.Failure(description: "There is no C compiler in the path, neither clang nor cc")
            }
            return found
        }
    }
}

/// A FIFO with both ends open: writing to it never waits for a reader, and reading never comes to an end.
final class Fifo {
    let descriptor: Int32

    init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw Program.Failure(description: "mkfifo failed: \(errno)") }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Program.Failure(description: "\(path) cannot be opened: \(errno)") }
    }

    func poke() {
        _ = write(descriptor, "\n", 1)
    }

    deinit { close(descriptor) }
}
