import Foundation
import JunctionTesting

/// Builds the C files in `Shims` and preloads them into a daemon. They replace libc functions. Each one is active only
/// if an environment variable names its folder.
enum Preloading {
    /// The library, built once in each test run, in the folder of the programs.
    private static let library = Result { try build() }

    /// Makes the daemon preload the library from its next start on, and gives one of the shims its folder.
    static func prepare(_ installation: Installation, _ variable: String, folder: String) throws {
        installation.daemonEnvironment["LD_PRELOAD"] = try library.get()
        installation.daemonEnvironment[variable] = folder
    }

    private static func build() throws -> String {
        let sources = Program.root + "/Tests/EndToEndTests/Shims/"
        let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".c") }
        let library = Program.folder + "/EndToEndShims.so"
        // Replace the file atomically, because another test run may build it or have daemons that use it.
        let fresh = library + ".\(getpid())"
        let arguments = ["-shared", "-fPIC", "-O1", "-o", fresh] + files.map { sources + $0 }
        let ending = try Program(try compiler, arguments, in: TemporaryFolder()).wait()
        guard ending.status == 0, rename(fresh, library) == 0 else {
            throw TestFailure(description: "The shims cannot be built: \(ending.errors)")
        }
        return library
    }

    /// The C compiler: Swift's clang, or the system's compiler.
    private static var compiler: String {
        get throws {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            let candidates = ["clang", "cc", "gcc"].flatMap { name in folders.map { "\($0)/\(name)" } }
            guard let found = candidates.first(where: FileManager.default.isExecutableFile) else {
                throw TestFailure(description: "There is no C compiler in the path, neither clang nor cc")
            }
            return found
        }
    }
}

/// A FIFO that is open for reading and writing. So a write never waits for a reader, and a reader never sees the end.
final class Fifo {
    let descriptor: Int32

    init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw TestFailure(description: "mkfifo failed: \(errno)") }
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestFailure(description: "\(path) cannot be opened: \(errno)") }
    }

    func poke() {
        _ = write(descriptor, "\n", 1)
    }

    deinit { close(descriptor) }
}
