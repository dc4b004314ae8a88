import JunctionTesting
import Testing

@testable import JunctionSession

/// Whoever tries the service manager's credential hears from the owner when it is time, and of a sign-out.
struct EnrolmentNewsTests {
    private let house = House().start()
    private let news = Box<EnrolmentNews>()

    private func know() {
        house.on { [news] in $0.enrolmentKnown { news.put($0) } }
    }

    private func signOut() {
        house.on { $0.signOut(by: 1_000) { _ in } }
    }

    @Test func `one that was held back is heard of when nobody is signed in any more`() {
        know()
        let house = house.signIn()
        house.on { $0.enrolmentHeldBack() }
        #expect(news.all.isEmpty)

        house.provider.failRenewals(.terminated(code: "invalid_token", message: "The user was deleted"))
        house.on { $0.renew(by: 1_000) { _ in } }

        #expect(news.all == [.tryAgain])
    }

    @Test func `one that could not be exchanged yet is heard of when it is time`() {
        know()
        house.on { $0.enrolmentBegan() }
        house.on { $0.enrolmentFailed(retryAfter: .seconds(60)) }
        #expect(house.alarm.setTo != nil && news.all.isEmpty)

        house.pass(.seconds(66))

        #expect(news.all == [.tryAgain])
    }

    @Test func `a sign-out is heard of before anything of it is written, once`() {
        let written = Box<Int>()
        house.on { [news, store = house.store] owner in
            owner.enrolmentKnown {
                news.put($0)
                written.put(store.written.count)
            }
        }

        signOut()
        #expect(news.all == [.signedOut])
        #expect(written.all == [0])
        #expect(house.store.written.map(\.content) == [.signedOut])

        house.on { $0.enrolmentBegan() }
        signOut()
        #expect(news.all == [.signedOut])
    }

    @Test func `one that has ended is not heard of any more, and leaves a sign-out nothing to write`() {
        know()
        house.on { $0.enrolmentEnded() }

        signOut()
        #expect(house.store.written.isEmpty)
        house.on { $0.enrolmentBegan() }
        signOut()

        #expect(news.all.isEmpty)
    }

    @Test func `what is in place when a sign-out begins was received before it`() {
        let looks = Box<Bool>()
        house.on { [news, owner = house.owner] in
            $0.lookBeforeSignOut {
                looks.put(true)
                owner.assumeIsolated { $0.enrolmentKnown { news.put($0) } }
            }
        }

        signOut()
        #expect(news.all == [.signedOut])
        house.on { $0.identify(externalUserId: nil, by: 1_000, ask: { _, _ in }) { _ in } }
        #expect(news.all == [.signedOut, .signedOut])

        house.on { $0.identify(externalUserId: "ext-alice", by: 1_000, ask: { _, _ in }) { _ in } }
        #expect(looks.all.count == 2)
    }
}
