import Foundation
import JunctionTesting
import Testing

/// Tests of a stored session that the daemon cannot open. `junctionctl` reports that no token is available, why, and
/// what to do.
@Suite struct UnreadableStorageTests {
    /// The defect that the daemon finds at its start.
    enum Defect: String, CaseIterable {
        case otherKey, noKey, clonedDisk, newerFormat, altered, torn

        var status: String {
            switch self {
            case .otherKey, .noKey, .clonedDisk: "locked"
            case .newerFormat: "unavailable"
            case .altered, .torn: "damaged"
            }
        }

        var reason: String {
            switch self {
            case .otherKey: "Provide the old key and restart junctiond, or sign in again."
            case .noKey: "cannot be opened without its key. The service manager passed no credential"
            case .clonedDisk: "the disk looks like a copy of another machine's"
            case .newerFormat: "was written by a newer junctiond"
            case .altered, .torn: "is not what was written"
            }
        }
    }

    @Test(arguments: Defect.allCases)
    func `the first line of status says that no token is available, why and what to do`(defect: Defect) throws {
        let installation = try Self.installation(with: defect)

        let status = try installation.ctl("status")
        let json = try installation.ctl("status", "--json")
        let token = try installation.ctl("token")
        let wait = try installation.ctl("wait", "--for", "fresh")
        let doctor = try installation.ctl("doctor")

        let first = try #require(status.output.split(separator: "\n").first)
        #expect(first.hasPrefix("state     "), "\(first)")
        #expect(first.contains("no token can be had, because the storage is \(defect.status). "), "\(first)")
        #expect(first.contains(defect.reason), "\(first)")
        for ending in [status, json, token, wait] { #expect(ending.status == 75, "\(ending.errors)") }
        let storage = try json.json().storage
        #expect(storage["readable"] as? Bool == false)
        #expect((storage["reason"] as? String)?.contains(defect.reason) == true)
        #expect(token.errors.contains(defect.reason))
        #expect(wait.errors.contains(defect.reason))
        // A caller without the right to the status reads this error, too.
        #expect(!token.errors.contains("established"))
        if let user = try json.json().userId { #expect(!token.errors.contains(user)) }
        #expect(doctor.status == 1)
        // The reason occurs completely and only once.
        #expect(doctor.output.components(separatedBy: defect.reason).count == 2, "\(doctor.output)")
        for advice in [status.output, token.errors, doctor.output] {
            #expect(!advice.contains("estore it"), "\(advice)")
            #expect(!advice.contains("and was put aside"), "\(advice)")
        }
    }

    @Test func `a discarded record beside a healthy session does not affect tokens`() throws {
        let installation = try Installation.started()
        try installation.signInNewUser()
        try installation.killDaemon()
        let record = installation.stateDirectory + "/session.sealed"
        try FileManager.default.copyItem(atPath: record, toPath: record + ".tmp-1")
        try Self.alter(record + ".tmp-1")
        try installation.startDaemon()

        let status = try installation.ctl("status")
        let doctor = try installation.ctl("doctor")

        #expect(status.status == 0)
        #expect(status.output.hasPrefix("state     established: signed in\n"), "\(status.output)")
        #expect(try installation.ctl("token").status == 0)
        #expect(try installation.ctl("wait", "--for", "fresh", "--timeout", "30").status == 0)
        let storage = try installation.status().storage
        #expect(storage["status"] as? String == "damaged")
        #expect(storage["readable"] as? Bool == true)
        #expect((storage["reason"] as? String)?.contains("/quarantine/generation-") == true)
        #expect(doctor.output.contains("Put aside, because it is not what was written"))
        #expect(doctor.output.contains("is signed in."), "\(doctor.output)")
    }

    /// Creates an installation with a running daemon and this defect.
    private static func installation(with defect: Defect) throws -> Installation {
        let installation = try Installation()
        let credentials = try Credentials(installation, key: 1)
        try installation.startDaemon()
        try installation.signInNewUser()
        try installation.killDaemon()
        let record = installation.stateDirectory + "/session.sealed"
        switch defect {
        case .otherKey: try credentials.put(2)
        case .noKey: try credentials.take()
        case .clonedDisk:
            let other = String(repeating: "ab", count: 16)
            try Data(other.utf8).write(to: URL(filePath: installation.stateDirectory + "/installation-id"))
        case .newerFormat: try makeNewer(record, in: installation.folder)
        case .altered: try alter(record)
        case .torn: try change(record) { $0.removeLast($0.count - 3) }
        }
        try installation.startDaemon()
        return installation
    }

    /// Changes the format number of a record and the checksum of its clear part (`RecordFrame`).
    private static func makeNewer(_ record: String, in folder: TemporaryFolder) throws {
        let (magic, prologue) = (8, 17)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: record)))
        bytes[magic] = 99
        let end = prologue + bytes[magic + 1..<magic + 5].reduce(0) { $0 << 8 | Int($1) }
        let clear = try folder.write(bytes[..<end], to: "clear")
        let digest = try Program("/usr/bin/sha256sum", [clear], in: folder).wait().output.prefix(64)
        let checksum = stride(from: 0, to: 64, by: 2).compactMap { UInt8(digest.dropFirst($0).prefix(2), radix: 16) }
        try Data(bytes[..<end] + checksum + bytes[(end + checksum.count)...]).write(to: URL(filePath: record))
    }

    private static func alter(_ file: String) throws {
        try change(file) { $0[$0.count - 1] ^= 1 }
    }

    private static func change(_ file: String, _ body: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(filePath: file))
        body(&bytes)
        try bytes.write(to: URL(filePath: file))
    }
}
