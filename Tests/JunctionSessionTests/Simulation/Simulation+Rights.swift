import JunctionSession

/// Rights that are withdrawn while a sign-in waits for its turn, for the provider, for a person, or for the disk.
extension Simulation {
    /// Withdraws the right of one caller that waits for a sign-in, or of all callers that began a device sign-in.
    func withdrawRight() {
        let isApprovalWritten = model.granted != nil && model.grantedTo == nil
        if snapshot.facts.authorization != nil || isApprovalWritten, chance(2) == 0 {
            coverage.note(.approvalRightsWithdrawn)
            model.withdrawDeviceRights(self)
        } else {
            let inFlight = Set(calls.values.filter { $0.isOfSignIn && !$0.isOvertaken }.compactMap(\.request))
            let requests = waiting.filter { _, waiter in
                // The first caller of a device sign-in whose codes are being written belongs to the other kind.
                waiter.isSignIn && !(waiter.isDevice && (model.granted != nil || snapshot.facts.authorization != nil))
            }
            guard !requests.isEmpty else { return }
            let number = requests.keys.sorted()[chance(requests.count)]
            coverage.note(.rightsWithdrawn)
            if inFlight.contains(number) { coverage.note(.rightsWithdrawnInFlight) }
            waiting[number]?.isWithdrawn = true
            model.withdrawn.insert(number)
            if model.granted != nil, model.grantedTo == number { model.withdrawGranted(self) }
            // The question for its credential may be over.
            if model.open?.question.reason == .missing { model.open = nil }
        }
        on { $0.rightsChanged() }
    }
}

extension Model {
    /// Withdraws the right of all callers that began a device sign-in.
    mutating func withdrawDeviceRights(_ world: Simulation) {
        if granted != nil {
            guard grantedTo == nil else { return }
            withdrawGranted(world)
        }
        withdrawn.formUnion(deviceRequests)
        withdrawnCodes.formUnion(codes)
        areNextCodesWithdrawn = world.calls.values.contains { $0.kind == .authorization && !$0.isOvertaken }
        for number in deviceRequests { world.waiting[number]?.isWithdrawn = true }
    }

    /// Records that a sign-in which is being written no longer takes effect.
    mutating func withdrawGranted(_ world: Simulation) {
        world.coverage.note(.rightsWithdrawnBeingWritten)
        if let granted {
            unwanted.insert(granted.family)
            // The login is not revoked while its user stays signed in.
            if let held, held.user == granted.user { logins[held.user] = held.family }
        }
        (granted, grantedTo, isWithdrawing) = (nil, nil, true)
        // During the write, the model did not follow the refresh retries of the present session, which ignore a
        // demanded pause.
        demanded[.renewal] = nil
    }
}
