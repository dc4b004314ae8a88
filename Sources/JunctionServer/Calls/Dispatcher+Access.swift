import JunctionProtocol

extension Dispatcher {
    /// Answers only with facts about the caller: its identity, its capabilities, and the policy entry that decides
    /// about it.
    func whoami(_ request: Request, _: NoParams) {
        let decision = request.caller.decide()
        let caller = CallerDescription(
            user: Int(request.caller.peer.user),
            process: Int(request.caller.peer.process),
            unit: request.caller.peer.unit,
            capabilities: Capability.allCases.filter(request.caller.may).map { .init(rawValue: $0.rawValue) },
            basis: CallerDescription.Basis(decision.basis),
            entry: decision.entry.map { CallerDescription.Entry($0.index, $0.rule) }
        )
        request.succeed(AccessWhoami.self, caller)
    }
}

extension CallerDescription.Entry {
    fileprivate init(_ index: Int, _ rule: AccessRule) {
        self.init(index: index, unit: rule.unit, user: rule.user.map { Int($0) }, group: rule.group.map { Int($0) })
    }
}
