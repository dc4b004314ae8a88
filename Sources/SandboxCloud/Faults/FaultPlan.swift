import Synchronization

/// The faults that are still to happen, the oldest first.
final class FaultPlan: Sendable {
    private let faults = Mutex<[Fault]>([])
    private let bell: Bell

    init(bell: Bell) {
        self.bell = bell
    }

    var pending: [Fault] { faults.withLock { $0 } }

    func add(_ fault: Fault) {
        faults.withLock { $0.append(fault) }
        bell.ring()
    }

    func clear() {
        faults.withLock { $0.removeAll() }
        bell.ring()
    }

    /// The fault for this request, which is then used up by one.
    func take(method: String, path: String, grant: GrantType?) -> Fault? {
        let taken: Fault? = faults.withLock { faults in
            guard let index = faults.firstIndex(where: { $0.fits(method: method, path: path, grant: grant) }) else {
                return nil
            }
            let fault = faults[index]
            if let times = fault.times {
                if times > 1 { faults[index].times = times - 1 } else { faults.remove(at: index) }
            }
            return fault
        }
        if taken != nil { bell.ring() }
        return taken
    }
}
