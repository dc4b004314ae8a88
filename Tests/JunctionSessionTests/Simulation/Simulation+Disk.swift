import JunctionSession
import JunctionTesting

/// The content of the disk: a record, and the secrets that are sealed with it.
struct Disk {
    var record: SessionRecord
    var secrets: SessionSecrets
}

/// A write that has begun and not ended.
struct PendingWrite {
    var record: SessionRecord
    var secrets: SessionSecrets
    var unopened: UnopenedRecords
    var continuation: UnsafeContinuation<StoreFailure?, Never>?
}

/// The disk: it may be slow or full, and it checks what is written.
extension Simulation {
    func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        _ unopened: UnopenedRecords
    ) async -> StoreFailure? {
        log("write \(record)")
        if pendingWrite != nil { fail("two writes are at the store at once") }
        judge(record, secrets)
        // A slow disk takes seconds, and sometimes minutes.
        let duration = Int64(chance(diskIsSlow ? (chance(4) == 0 ? 300_000 : 30_000) : 20))
        plan(.writeEnds, after: duration)
        if model.granted != nil, !isHealed, chance(20) == 0 { plan(.rightIsWithdrawn, after: duration / 2) }
        return await withUnsafeContinuation { continuation in
            pendingWrite = PendingWrite(
                record: record,
                secrets: secrets,
                unopened: unopened,
                continuation: continuation
            )
        }
    }

    func endWrite() {
        guard let write = pendingWrite else { return }
        pendingWrite = nil
        if diskIsFull {
            coverage.note(.writesFailed)
        } else {
            put(write)
        }
        write.continuation?.resume(returning: diskIsFull ? StoreFailure("No space left on device") : nil)
        executor.runUntilIdle()
    }

    func put(_ write: PendingWrite) {
        if let present = disk?.record, !write.record.supersedes(present) {
            fail("a write goes back from \(present.generation) to \(write.record.generation)")
        }
        if write.unopened == .erased { lastSignOut = write.record.generation }
        disk = Disk(record: write.record, secrets: write.secrets)
    }

    /// Checks that a record is sealed only with the secrets of its own user.
    private func judge(_ record: SessionRecord, _ secrets: SessionSecrets) {
        if (record.deviceSignIn == nil) != (secrets.codes == nil) {
            fail("a sign-in that awaits approval is written without its codes")
        }
        if record.partialGrants.count != secrets.partialGrants.count {
            fail("partial grants are written without their secrets")
        }
        guard let stored = record.session else {
            if secrets.refreshToken != nil || secrets.accessToken != nil { fail("nobody's record holds a token") }
            return
        }
        let user = stored.identity.userId
        guard let refresh = secrets.refreshToken?.number, let granted = provider.tokens(of: refresh),
            let access = secrets.accessToken.flatMap({ provider.access[$0.number] })
        else { return fail("a record of \(user) is written without tokens") }
        if granted.user != user || access.user != user {
            fail("a record of \(user) is sealed with somebody else's tokens")
        }
        if model.unwanted.contains(granted.family) { fail("somebody is signed in by a right that was withdrawn") }
        if let generation = stored.token?.generation, generation > record.generation {
            fail("a record of generation \(record.generation) holds a token of \(generation)")
        }
    }
}
