import Glibc
import JunctionSecret
import JunctionSession
import JunctionVault

/// Times the vault's own durable write from inside, in turn with the system calls that it cannot do without:
///
///     vault-probe FOLDER COUNT
///
/// One line for each write: what the vault took, and what the bare sequence took, in nanoseconds. Only `make bench` calls it.
@main
enum VaultProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = UInt64(arguments[2]) else {
            let usage = "usage: vault-probe FOLDER COUNT\n"
            _ = Glibc.write(STDERR_FILENO, usage, usage.utf8.count)
            exit(64)
        }
        let directory = try StateDirectory(path: arguments[1])
        let vault = Vault(directory, try InstanceLock(directory), .key(try .file(in: directory)))
        let bare = try BareSequence(in: arguments[1])
        _ = vault.restore()
        for generation in 1...max(1, count) {
            let (record, secrets) = (record(generation), secrets)
            let start = now()
            try await vault.write(record, secrets)
            let written = now()
            // The reserve is put back behind the write; the next one must not wait for that, nor the bare sequence.
            _ = vault.isDurable
            let before = now()
            try bare.write()
            print(written - start, now() - before)
        }
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// A session as it is after a renewal.
    private static func record(_ generation: UInt64) -> SessionRecord {
        let now = WallTime(milliseconds: 1_795_219_200_000 + Int64(generation))
        let token = TokenFacts(issuedAt: now, expiresAt: now + .seconds(3_600), generation: generation)
        let identity = Identity(
            userId: "1eb30a2f-4d6d-4f0e-9c5b-f6a8a1a3b111",
            teamId: "9d2c6f0e-8a55-4a56-a1f3-0d9f7a2c4e5b",
            environment: "sandbox",
            region: "us"
        )
        return SessionRecord(
            generation: generation,
            writtenAt: now,
            provider: "junction",
            content: .session(
                StoredSession(identity: identity, scheme: .signInToken, token: token, renewAt: now + .seconds(2_400))
            )
        )
    }

    private static var secrets: SessionSecrets {
        SessionSecrets(
            accessToken: SharedSecret(text: String(repeating: "a", count: 700)),
            refreshToken: SharedSecret(text: String(repeating: "r", count: 128))
        )
    }
}
