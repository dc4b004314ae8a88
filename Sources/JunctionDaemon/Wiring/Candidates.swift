/// The credentials that the service manager has passed, in the order in which they came, and how far it has come with each.
///
/// They are looked at one at a time: the next one when the one before it is decided, or cannot be used as things are. None of
/// them is here itself: it stays in its place, and is known by its digest.
struct Candidates {
    /// One of them.
    struct Candidate: Equatable {
        let name: String
        let digest: String
        var progress = Progress.fresh
        var situation = Situation.unused("nobody has looked at it yet")
    }

    enum Progress: Equatable {
        /// Nobody has looked at it.
        case fresh
        /// It is looked up whether it may sign in.
        case lookedUp
        /// It is on its way to the provider, or there.
        case trying
        /// It waits for its next try.
        case waiting
        /// Somebody is signed in: it is looked at again when nobody is.
        case heldBack
        /// It cannot be used as things are: it is looked at again after a reload.
        case setAside
        /// It signs nobody in any more.
        case decided
    }

    enum Situation: Equatable {
        /// It is not used, and why.
        case unused(String)
        /// It signs nobody in, and why.
        case useless(String)
        /// Whether it was used before cannot be known, and why.
        case unknowable(String)
        /// It is being tried, or waits for its next try, after this trouble.
        case tried(String?)
        case hasSignedIn
    }

    /// What is being done about one of them, until something else is done.
    struct Attempt: Equatable, Sendable {
        let name: String
        let digest: String
        fileprivate let number: Int
    }

    private(set) var all: [Candidate] = []
    private var number = 0

    /// Those that are found in their places; another one in the place of one that is known counts as new. One that is being tried is
    /// decided first.
    mutating func take(_ found: [Candidate]) {
        for new in found {
            guard let index = all.firstIndex(where: { $0.name == new.name }) else {
                all.append(new)
                continue
            }
            guard all[index].digest != new.digest, all[index].progress != .trying else { continue }
            if all[index].isActive { number += 1 }
            all[index] = new
        }
    }

    /// Takes up the first that nobody has looked at, unless another one is under way.
    mutating func next() -> Attempt? {
        guard !all.contains(where: \.isActive), let index = all.firstIndex(where: { $0.progress == .fresh }) else {
            return nil
        }
        number += 1
        all[index].progress = .lookedUp
        return attempt(at: index)
    }

    func isCurrent(_ attempt: Attempt) -> Bool { attempt.number == number }

    /// It has come so far with the one that is under way.
    mutating func move(_ attempt: Attempt, to progress: Progress, _ situation: Situation?) {
        guard isCurrent(attempt), let index = all.firstIndex(where: { $0.name == attempt.name }) else { return }
        all[index].progress = progress
        if let situation { all[index].situation = situation }
    }

    /// It is not in its place any more.
    mutating func remove(_ attempt: Attempt) {
        guard isCurrent(attempt) else { return }
        all.removeAll { $0.name == attempt.name }
        number += 1
    }

    /// Those that have come so far are looked at again.
    ///
    /// - Returns: whether there are any.
    @discardableResult
    mutating func renew(_ progress: Progress) -> Bool {
        let indices = all.indices.filter { all[$0].progress == progress }
        for index in indices { all[index].progress = .fresh }
        return !indices.isEmpty
    }

    /// There was a sign-out: none of these, and of those that are known, signs in any more.
    ///
    /// - Returns: those that might have.
    mutating func end(with found: [Candidate]) -> [Candidate] {
        let new = found.filter { one in !all.contains { $0.digest == one.digest } }
        let ended = all.filter { $0.progress != .decided } + new
        number += 1
        all.removeAll { known in new.contains { $0.name == known.name } }
        all += new
        for index in all.indices where all[index].progress != .decided {
            (all[index].progress, all[index].situation) = (.decided, .unused("there was a sign-out"))
        }
        return ended
    }

    private func attempt(at index: Int) -> Attempt {
        Attempt(name: all[index].name, digest: all[index].digest, number: number)
    }
}

extension Candidates.Candidate {
    fileprivate var isActive: Bool {
        switch progress {
        case .lookedUp, .trying, .waiting: true
        case .fresh, .heldBack, .setAside, .decided: false
        }
    }
}
