/// Counts the tokens that each unit received, for a bounded number of units. A caller gets its counter when it
/// connects, so that counting a token is one addition.
struct UnitCounters {
    /// The most units: more than a device has, and few enough for a metric.
    static let mostUnits = 64

    struct Place: Equatable {
        fileprivate let index: Int
        /// For callers that are in no unit, or whose unit is not known.
        static let none = Place(index: 0)
        /// For callers of units above `mostUnits`.
        static let other = Place(index: 1)
    }

    private var names = [ServerCounters.noUnit, ServerCounters.otherUnits]
    private var counts = [0, 0]
    private var places: [String: Place] = [:]

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

    mutating func count(_ place: Place) { counts[place.index] += 1 }

    var tokens: [ServerCounters.TokensOfUnit] {
        zip(names, counts).map { ServerCounters.TokensOfUnit(unit: $0, count: $1) }
    }
}
