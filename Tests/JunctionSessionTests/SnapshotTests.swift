import JunctionSecret
import JunctionTesting
import Synchronization
import Testing

@testable import JunctionSession

/// The content and the order of snapshots for callers and observers.
struct SnapshotTests {
    @Test func `a snapshot has every known part of the identity`() {
        var bench = Bench()
        bench.signIn(.apiKeyAlone)
        #expect(bench.facts.environment == "sandbox")
        #expect(bench.facts.region == "us")

        let signedIn = Bench.signedIn().facts
        #expect(signedIn.userId == "alice")
        #expect(signedIn.teamId == "team")
        #expect(signedIn.environment == "sandbox")
        #expect(signedIn.region == "us")

        let terminated = Bench.terminated().facts
        #expect(terminated.userId == "alice")
        #expect(terminated.termination?.code == "invalid_token")
    }

    @Test func `revisions rise by one with each announcement`() {
        let bench = OwnerBench().start().signIn()
        bench.signOut()
        #expect(bench.observer.snapshots.map(\.revision) == [2, 3, 4])
    }

    @Test func `a watcher gets the snapshots that the observer gets`() {
        let bench = OwnerBench().start()
        let (first, second) = (Box<Snapshot>(), Box<Snapshot>())
        bench.on { $0.watch { first.put($0) } }
        bench.signIn()
        bench.on { $0.watch { second.put($0) } }
        bench.signOut()

        #expect(first.all == bench.observer.snapshots)
        #expect(second.all.map(\.revision) == [4])
    }

    @Test func `each announcement has its own revision, also when a callback calls the owner`() {
        let bench = OwnerBench().start()
        let owner = bench.owner
        bench.on {
            $0.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in
                owner.assumeIsolated { $0.renew(by: 1_000) { _ in } }
            }
        }
        let revisions = bench.observer.snapshots.map(\.revision)
        #expect(
            Set(revisions).count == revisions.count,
            "\(bench.observer.snapshots.map { "\($0.revision) \($0.facts.state) \($0.facts.renewal.phase)" })"
        )
    }

    @Test func `each announcement has its own revision when the answer to a sign-in signs out`() {
        let bench = OwnerBench().start()
        let owner = bench.owner
        let tokens = Box<Result<ServedToken, SessionError>>()
        bench.provider.hold()
        bench.owner.assumeIsolated { o in
            o.signIn(.signInToken(SharedSecret(text: "alice")), by: 1_000) { _ in
                owner.assumeIsolated { $0.signOut(by: 1_000) { _ in } }
            }
            o.token(by: 1_000) { tokens.put($0) }
        }
        bench.executor.runUntilIdle()
        bench.release()
        #expect(tokens.all.count == 1)
        let revisions = bench.observer.snapshots.map(\.revision)
        #expect(
            Set(revisions).count == revisions.count,
            "\(bench.observer.snapshots.map { "\($0.revision) \($0.facts.state)" })"
        )
    }

    @Test func `an observer may call the owner, and is notified of an exchange`() {
        let bench = OwnerBench().start()
        let owner = bench.owner
        bench.observer.onChange { _ in owner.assumeIsolated { $0.alarmRang(clockJumped: false) } }
        let before = bench.observer.snapshots.count
        bench.signIn()
        let revisions = bench.observer.snapshots.dropFirst(before).map(\.revision)
        #expect(revisions == Array(Set(revisions)).sorted())
        #expect(bench.observer.events.contains(.exchangeEnded(.succeeded)))
    }

    @Test func `a watcher and a caller see the same state at every change`() {
        let bench = OwnerBench(tokenLife: .seconds(60), rules: RenewalRules(mode: .handler))
        let owner = bench.owner
        let disagreements = Mutex(0)
        bench.observer.onChange { told in
            let asked = owner.assumeIsolated { $0.snapshot }
            if asked != told { disagreements.withLock { $0 += 1 } }
        }

        bench.provider.failExchanges(.unavailable(Unavailability("No network")))
        _ = bench.start().signIn().signIn()
        bench.pass(.seconds(61))
        bench.provider.failRenewals(
            .unavailable(Unavailability("No network")),
            .terminated(code: "400312", message: "Banned")
        )
        bench.on { owner in
            _ = owner.register(handlerOf: 1_000) { question in
                owner.assumeIsolated { $0.answered(HandlerID(number: 1, uid: 1_000), question.attempt, .renew) }
            }
        }
        bench.pass(.seconds(10))

        #expect(disagreements.withLock(\.self) == 0)
        var states: [SessionState] = []
        for state in bench.observer.snapshots.map(\.facts.state) where state != states.last { states.append(state) }
        #expect(states == [.establishing, .notLoggedIn, .establishing, .established, .tokenExpired, .terminated])
    }
}
