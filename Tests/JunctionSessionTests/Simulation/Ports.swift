import JunctionSession

/// The clocks of the simulated machine.
struct ClockPort: SessionClock {
    let life: ProcessLife

    func now() -> Moment { life.simulation.now }
}

struct AlarmPort: SessionAlarm {
    let life: ProcessLife

    func set(_ time: WallTime?) { life.alarm = time }
}

/// The disk. A write ends at a time of the agenda.
struct StorePort: SessionStore {
    let sealedWith = "file"
    let life: ProcessLife

    init(life: ProcessLife) { self.life = life }

    func write(
        _ record: SessionRecord,
        _ secrets: SessionSecrets,
        unopened: UnopenedRecords
    ) async throws(StoreFailure) {
        guard !life.isOver else { throw StoreFailure("The process is dead") }
        if let failure = await life.simulation.write(record, secrets, unopened) { throw failure }
    }
}

struct ObserverPort: SessionObserver {
    let life: ProcessLife

    func changed(_ snapshot: Snapshot) {
        if !life.isOver { life.simulation.changed(snapshot) }
    }

    func happened(_ event: SessionEvent) {
        if !life.isOver { life.simulation.happened(event) }
    }

    func reached(_ step: RotationStep) {}
}
