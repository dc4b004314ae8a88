import FoundationEssentials
import Synchronization

/// All that the sandbox holds.
struct Contents: Sendable {
    /// What a state file keeps over a restart.
    var state = CloudState()
    var settings: Settings
    /// The faults that are still to happen, the oldest first.
    var faults: [Fault] = []
    var tally = Tally()
    var requests = RequestLog()
}

/// When something happens, and on which terms.
struct Moment: Sendable {
    /// The time on the sandbox's own clock.
    let now: Date
    /// How far that clock has been advanced, in seconds.
    let offset: Double
    let settings: Settings

    fileprivate init(_ contents: Contents) {
        offset = contents.state.clockOffset
        now = Date() + offset
        settings = contents.settings
    }

    /// A time of the sandbox's clock on the clock that the `Date` header shows, which is this machine's and is never advanced:
    /// whoever sends or reads an absolute time means that one.
    func stated(_ time: Date) -> Date { time - offset }

    /// When it is on the sandbox's clock what a client calls so.
    func meant(_ time: Date) -> Date { time + offset }
}

/// Holds the contents of the sandbox, writes what outlives a restart, and reports that something has changed.
final class Store: Sendable {
    private let contents: Mutex<Contents>
    private let listeners = Mutex<[UUID: AsyncStream<Void>.Continuation]>([:])
    private let initialSettings: Settings
    private let file: StateFile?

    /// Reads the state file if there is one.
    init(settings: Settings, file: StateFile?) throws {
        self.file = file
        initialSettings = settings
        contents = Mutex(Contents(state: try file?.load() ?? CloudState(), settings: settings))
    }

    /// The contents and the time, as they are at one moment.
    var snapshot: (contents: Contents, moment: Moment) { contents.withLock { ($0, Moment($0)) } }

    var settings: Settings { snapshot.contents.settings }

    func read<Answer: Sendable>(_ body: (CloudState, Moment) throws -> Answer) rethrows -> Answer {
        let (contents, moment) = snapshot
        return try body(contents.state, moment)
    }

    /// Changes what a restart keeps; if the body throws or the file cannot be written, nothing has changed.
    func change<Answer: Sendable>(_ body: (inout CloudState, Moment) throws -> Answer) throws -> Answer {
        try update { contents in
            var next = contents.state
            let answer = try body(&next, Moment(contents))
            try file?.save(next)
            contents.state = next
            return answer
        }
    }

    /// The same for a request of tokens, where what has changed stays changed when the request is refused.
    func grant<Answer: Sendable>(
        _ body: (inout CloudState, Moment) throws(TokenRefusal) -> Answer
    ) throws -> Answer {
        try change { state, moment in
            Result { () throws(TokenRefusal) in try body(&state, moment) }
        }.get()
    }

    /// Changes what a restart forgets.
    @discardableResult
    func update<Answer: Sendable>(_ body: (inout Contents) throws -> Answer) rethrows -> Answer {
        let answer = try contents.withLock { try body(&$0) }
        for signal in listeners.withLock({ Array($0.values) }) { signal.yield() }
        return answer
    }

    func count(_ change: (inout Tally) -> Void) {
        update { change(&$0.tally) }
    }

    /// Changes one group of settings.
    func change<Group: SettingsGroup>(
        _ group: WritableKeyPath<Settings, Group>,
        by order: [String: JSONValue]
    ) throws -> Group {
        let initial = initialSettings[keyPath: group]
        return try update { contents in
            let changed = try contents.settings[keyPath: group].changed(by: order, from: initial)
            contents.settings[keyPath: group] = changed
            return changed
        }
    }

    /// Everything as it was at the start of an empty sandbox; counters of requests that are under way are kept.
    func reset() throws {
        try change { state, _ in state = CloudState() }
        update { contents in
            contents.settings = initialSettings
            contents.faults = []
            contents.tally = contents.tally.underWay
            contents.requests.clear()
        }
    }

    /// An element at once, and one for whatever changed since the last: many changes can be one.
    func changes() -> AsyncStream<Void> {
        let (changes, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let listener = UUID()
        listeners.withLock { $0[listener] = signal }
        signal.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.removeValue(forKey: listener) }
        }
        signal.yield()
        return changes
    }
}
