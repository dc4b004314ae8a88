/// How many tokens went to which unit, for as many units as fit: whoever is counted has a place from the moment at which it
/// connects, so that handing a token out is one addition.
struct UnitTally {
    /// More units than a device has, and few enough for a metric.
    static let mostUnits = 64

    /// Where a caller is counted.
    struct Place: Equatable {
        fileprivate let index: Int
        /// Callers who are in no unit, or of whom it cannot be learnt.
        static let none = Place(index: 0)
        /// Callers of units for which there was no space.
        static let other = Place(index: 1)
    }

    private var names = [ServerCounters.noUnit, ServerCounters.otherUnits]
    private var counts = [0, 0]
    private var places: [String: Place] = [:]

    /// The place of whoever is in this unit.
    mutating func place(of unit: String?) -> Place {
        guard let unit else { return .none }
        if let place = places[unit] { return place }
        guard places.count < Self.mostUnits else { return .other }
        let place = Place(index: counts.count)
        places[unit] = place
        names.append(unit)
        counts.append(0)
        return place
    }

    /// One more.
    mutating func count(_ place: Place) { counts[place.index] += 1 }

    /// What was counted, by unit.
    var tokens: [ServerCounters.TokensOfUnit] {
        zip(names, counts).map { ServerCounters.TokensOfUnit(unit: $0, count: $1) }
    }
}
