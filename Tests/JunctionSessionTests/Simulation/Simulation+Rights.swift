import JunctionSession

/// Rights that are withdrawn while a sign-in waits for its turn, for the provider, or for a person.
extension Simulation {
    /// Somebody who waits for a sign-in may do so no more, or everybody who began a sign-in that awaits approval.
    func withdrawRight() {
        if snapshot.facts.authorization != nil, chance(2) == 0 {
            coverage.note(.approvalRightsWithdrawn)
            books.withdrawDeviceRights(self)
        } else {
            let inFlight = Set(calls.values.filter { $0.isOfSignIn && !$0.isOvertaken }.compactMap(\.request))
            // What was granted, and an identify call whose app has answered, may have counted already.
            let requests = waiting.filter { number, waiter in
                // The first caller of a device sign-in whose codes are being written is of the other kind.
                waiter.isSignIn && books.grantedTo != number
                    && !(waiter.isDevice && (books.granted != nil || snapshot.facts.authorization != nil))
                    && (!waiter.hasAnswered || inFlight.contains(number))
            }
            guard !requests.isEmpty else { return }
            let number = requests.keys.sorted()[chance(requests.count)]
            coverage.note(.rightsWithdrawn)
            if inFlight.contains(number) { coverage.note(.rightsWithdrawnInFlight) }
            waiting[number]?.isWithdrawn = true
            books.withdrawn.insert(number)
            // The question for its credential may be over.
            if books.open?.question.reason == .missing { books.open = nil }
        }
        on { $0.rightsChanged() }
    }
}

extension Books {
    /// Everybody loses the right to the sign-ins that await approval.
    mutating func withdrawDeviceRights(_ world: Simulation) {
        guard granted == nil else { return }
        withdrawn.formUnion(deviceRequests)
        withdrawnCodes.formUnion(codes)
        areNextCodesWithdrawn = world.calls.values.contains { $0.kind == .authorization && !$0.isOvertaken }
        for number in deviceRequests { world.waiting[number]?.isWithdrawn = true }
    }
}
