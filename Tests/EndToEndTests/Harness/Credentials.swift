import Foundation
import JunctionTesting

/// The credentials directory of the service (`CREDENTIALS_DIRECTORY`), with the sealing key.
struct Credentials {
    private let directory: String
    private let folder: TemporaryFolder

    init(_ installation: Installation, key: UInt8 = 1) throws {
        folder = installation.folder
        directory = try folder.makeFolder("credentials")
        installation.daemonEnvironment["CREDENTIALS_DIRECTORY"] = directory
        try put(key)
    }

    func put(_ key: UInt8) throws {
        try write(Data(repeating: key, count: 32), to: "junctiond.key")
    }

    func take() throws {
        try FileManager.default.removeItem(atPath: directory + "/junctiond.key")
    }

    func write(_ bytes: Data, to name: String) throws {
        _ = try folder.write(bytes, to: "credentials/" + name, mode: 0o400)
    }
}
