import CInstruments

/// Somebody who can be asked, over and over.
struct Subject {
    enum Road {
        case socket(Exchange)
        /// By a process of this unit.
        case unit(Exchange, UnitGroup)
        /// liboidc-agent encrypts every call and connects anew for it: there is no other way to ask.
        case oidcLibrary(account: String)
    }

    let name: String
    let processes: [Int32]
    let road: Road

    /// What it is asked over its socket, if it can be asked there.
    var exchange: Exchange? {
        if case .socket(let exchange) = road { exchange } else { nil }
    }

    func roundTrips(_ count: Int) throws -> Timings {
        switch road {
        case .socket(let exchange):
            return try exchange.roundTrips(count)
        case .unit(let exchange, let group):
            return try exchange.roundTrips(count, from: group)
        case .oidcLibrary(let account):
            var timings = timings()
            try check(instruments_oidc_calls(account, UInt32(count / 10), &timings), "asking oidc-agent")
            return Timings(timings)
        }
    }
}
