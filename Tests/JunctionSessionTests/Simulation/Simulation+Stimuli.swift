import JunctionSession

/// The random events from outside.
extension Simulation {
    func stimulate() {
        let draw = chance(100)
        log("stimulus \(draw), \(weather), disk \(diskIsFull ? "full" : diskIsSlow ? "slow" : "fine")")
        switch draw {
        case 0..<12: if chance(5) == 0 { bootstrap() } else { signIn() }
        case 12..<15: signOut()
        case 15..<22: identify()
        case 22..<28: changeHandlers()
        case 28..<40: requestToken()
        case 40..<54: requestRenewal()
        case 54..<58: callApi()
        case 58..<70: weather = Weather.allCases[chance(Weather.allCases.count)]
        case 70..<75: stepClock()
        case 75..<77: suspend()
        case 77..<78: changeNetwork()
        case 78..<82: diskIsFull.toggle()
        case 82..<85: diskIsSlow.toggle()
        case 85..<88: changeUsers()
        case 88..<90: withdrawRight()
        default: kill()
        }
    }

    private func stepClock() {
        coverage.note(.clockSteps)
        if calls.values.contains(where: { $0.isOfSignIn || $0.kind == .renewal }) { coverage.note(.clockStepsInFlight) }
        lastStep = time
        wallOffset += Int64(chance(60_000_000)) - 30_000_000
        on { $0.alarmRang(clockJumped: true) }
    }

    private func suspend() {
        coverage.note(.suspends)
        let length = Int64(chance(20_000_000))
        interruptions.append(time...(time + length))
        // In suspend nothing is sent, but the first request with the token still counts.
        model.window?.retryBefore = nil
        time += length
        on { $0.alarmRang(clockJumped: true) }
    }

    private func changeNetwork() {
        if snapshot.facts.renewal.phase == .backingOff { coverage.note(.hurriedRetries) }
        on { $0.networkChanged() }
    }

    private func changeUsers() {
        let user = Self.users[chance(2)]
        switch chance(6) {
        case 0: provider.deleted.insert(user)
        case 1, 2: provider.deleted.remove(user)
        case 3: provider.demandsReauthentication.insert(user)
        default: provider.demandsReauthentication.remove(user)
        }
    }
}
