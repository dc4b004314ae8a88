import JunctionSession

/// Requests whose outcome is unknown, and the times by which they must be sent again.
extension Model {
    /// Whether the session still depends on a token whose outcome is unknown.
    func isStanding(_ token: Int, _ world: Simulation) -> Bool {
        !isEnding && !mayEnd && !isDemanded && held?.refresh == token && !world.isSigningOut
    }

    /// Expects a refresh retry within two seconds after an ambiguous outcome. After a 503 to the first one, there is
    /// time for one more.
    mutating func expectsRefreshRetry(after answer: Answer, of call: Call, _ world: Simulation) {
        let isAmbiguous: Bool
        switch answer {
        case .unavailable(let ambiguous, _): isAmbiguous = ambiguous
        case .unexplained: isAmbiguous = false
        default: return
        }
        guard world.scheme == .signInToken, call.given == nil, !call.isOvertaken, let token = call.refresh,
            isStanding(token, world)
        else { return }
        let time = world.time
        let recent = refreshRetryTimes.count { $0 > time - 600_000 }
        if isAmbiguous {
            let before = recent < 5 ? time + 2_001 : nil
            // The answer is lost a second time. Inside its grace, the first request counts.
            let first = window.flatMap { $0.token == token && $0.sentAt + 16_000 > time ? $0.sentAt : nil }
            window = Window(token: token, sentAt: first ?? call.sentAt, retryBefore: before, isCapped: recent >= 5)
        } else if let current = window, current.token == token, current.refreshRetries > 0 {
            // The window stays, even if the limit may prevent the second refresh retry: if it is sent, it counts. A
            // failure that is not ambiguous does not open a window that the limit has kept closed, even after the
            // period of the limit.
            let isDue = !current.isCapped && recent < 5 && time < current.sentAt + 16_000
            window?.retryBefore = isDue ? current.sentAt + 25_000 : nil
        } else {
            window = nil
        }
    }

    /// Expects a refresh retry at the start. An open intent counts as a request that was sent when its record was
    /// written.
    mutating func expectRefreshRetry(ofRecord disk: Disk, _ world: Simulation) {
        guard let stored = disk.record.session, stored.renewalUnderWay, !stored.intentCannotBeResent,
            let token = disk.secrets.refreshToken?.number
        else { return }
        let age = max(world.now.wall - disk.record.writtenAt, .zero).wholeMilliseconds
        window = Window(token: token, sentAt: world.time - age)
    }
}
