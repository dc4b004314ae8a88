import Testing

@testable import JunctionSession

#if canImport(Glibc)
import Glibc
#endif

/// Explores every sequence of events up to a depth, from several situations. `JUNCTION_DEPTH` sets the depth.
struct ExplorationTests {
    static let depth = getenv("JUNCTION_DEPTH").flatMap { Int(String(cString: $0)) } ?? 5

    enum Situation: String, CaseIterable, Sendable {
        case nobody, signedIn, switching, renewing, storing, retryingRefresh, expired, pending, signingOut
        case handlerMode, asking, postponed
        case awaiting, polling, awaitingAnother
    }

    static func situation(_ situation: Situation) throws -> Exploration {
        let nobody = try Exploration(mode: .automatic)
        let signedIn = try nobody.after(.signInAlice, .exchangeGranted, .writeSucceeds)
        let handled = try Exploration(mode: .handler)
            .after(.signInAlice, .exchangeGranted, .writeSucceeds)
        let asking = try handled.after(.handlerRegisters, .alarm)
        return switch situation {
        case .nobody: nobody
        case .signedIn: signedIn
        case .switching: try signedIn.after(.identifyBob, .appAnswersBob, .exchangeGranted)
        case .renewing: try signedIn.after(.renew, .writeSucceeds)
        case .storing: try signedIn.after(.renew, .writeSucceeds, .renewalGranted)
        case .retryingRefresh: try signedIn.after(.renew, .writeSucceeds, .renewalLost)
        case .expired: try signedIn.after(.alarm, .writeSucceeds, .renewalBusy, .clockAhead)
        case .pending: try signedIn.after(.renew, .writeSucceeds, .renewalReauthentication, .writeSucceeds)
        case .signingOut: try signedIn.after(.signOut)
        case .awaiting: try nobody.after(.signInByDevice, .codesGiven, .writeSucceeds)
        case .polling: try nobody.after(.signInByDevice, .codesGiven, .writeSucceeds, .alarm)
        case .awaitingAnother: try signedIn.after(.identifyBob, .appAnswersDevice, .codesGiven, .writeSucceeds)
        case .handlerMode: handled
        case .asking: asking
        case .postponed: try asking.after(.handlerIsUnable, .writeSucceeds)
        }
    }

    @Test(arguments: Situation.allCases)
    func `no sequence of events breaks an invariant`(situation: Situation) throws {
        var frontier: [(state: Exploration, path: [Exploration.Event])] = [(try Self.situation(situation), [])]
        var seen: Set<Int> = [frontier[0].state.hashValue]
        var sequences = 0

        for depth in 1...Self.depth {
            var next: [(state: Exploration, path: [Exploration.Event])] = []
            for (state, path) in frontier {
                for event in Exploration.Event.allCases where state.isPossible(event) {
                    var after = state
                    sequences += 1
                    do {
                        try after.happen(event)
                    } catch {
                        Issue.record("\(situation), \(path + [event]): \(error.description)")
                        return
                    }
                    // The states of the last layer are checked and not stored.
                    if depth < Self.depth, seen.insert(after.hashValue).inserted {
                        next.append((after, path + [event]))
                    }
                }
            }
            frontier = next
        }
        print("\(situation): \(sequences) steps, \(seen.count) states to depth \(Self.depth)")
        #expect(sequences > 20)
    }
}
