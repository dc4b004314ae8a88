import JunctionSession

/// The random events from outside.
extension Simulation {
    func stimulate() {
        switch pace {
        case .dense: stimulateDensely()
        case .ordinary: stimulateOrdinarily()
        }
    }

    private func stimulateDensely() {
        let draw = chance(100)
        log("stimulus \(draw), \(weather), disk \(diskIsFull ? "full" : diskIsSlow ? "slow" : "fine")")
        switch draw {
        case 0..<12: if chance(5) == 0 { bootstrap() } else { signInBesideCodes() }
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

    /// The events of a device in use. Over a year: some 90 kills, 200 suspends, 200 outages, seven full disks, and four
    /// sign-outs. If no user is signed in, or the provider wants a new credential, a sign-in follows soon.
    private func stimulateOrdinarily() {
        let draw = chance(1_000)
        log("stimulus \(draw), \(weather), disk \(diskIsFull ? "full" : diskIsSlow ? "slow" : "fine")")
        if isTroubled {
            (weather, diskIsFull, diskIsSlow) = (.fine, false, false)
            return
        }
        let flags = snapshot.facts.flags
        if !flags.contains(.signedIn) || flags.contains(.pendingReauthentication), chance(2) == 0 {
            provider.deleted = []
            return _ = signIn(as: snapshot.facts.userId)
        }
        switch draw {
        case 0..<300: requestToken()
        case 300..<400: callApi()
        case 400..<420: requestRenewal()
        case 420..<560: weather = Weather.allCases[chance(Weather.allCases.count)]
        case 560..<700: suspend()
        case 700..<745: kill()
        case 745..<760:
            // A power cut seldom meets a renewal by chance, so some are timed.
            requestRenewal()
            plan(.machineDies, after: Int64(chance(600)))
        case 760..<770: stepClock()
        case 770..<775: diskIsFull = true
        case 775..<785: diskIsSlow = true
        case 785..<800: changeHandlers()
        case 800..<803: signOut()
        case 803..<806: signIn()
        case 806..<810: identify()
        case 810..<812: changeUsers()
        case 812..<813: withdrawRight()
        case 813..<815: changeNetwork()
        case 815..<820: bootstrap()
        default: break
        }
    }

    /// Signs in. While codes are shown, several callers do so at once, so that sign-ins wait for their turn while a poll
    /// becomes due.
    private func signInBesideCodes() {
        for _ in 0..<(snapshot.facts.authorization == nil ? 1 : 3) { signIn() }
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
