import FleetSimulation

/// The options of the program.
struct Options {
    var daemons = 1_000_000
    var seed: UInt64 = 1
    /// The requested scenarios; empty: all of them.
    var only: [String] = []
    /// Simulates only junctiond, and checks its bounds.
    var isCheck = false
    /// The folder of the pictures.
    var pictures: String?

    static let usage = """
        usage: fleet [--daemons N] [--seed N] [--only NAME,…] [--pictures DIR] [--check]

          --daemons N      how many (1,000,000); all figures are for a million, whatever it is
          --only NAME,…    of \(Scenario.all.map(\.name).joined(separator: ", "))
          --pictures DIR   writes an SVG for each scenario
          --check          junctiond alone; ends with 1 if a target is missed

        """

    init(_ arguments: [String]) throws(WrongUsage) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--daemons": daemons = Int(try number(in: 1_000...1_000_000))
            case "--seed": seed = try number(in: 0...UInt64.max)
            case "--only": only = try value().split(separator: ",").map(String.init)
            case "--pictures": pictures = try value()
            case "--check": isCheck = true
            case _: throw WrongUsage(description: "unknown argument '\(argument)'\n\(Self.usage)")
            }

            func value() throws(WrongUsage) -> String {
                guard let value = rest.popFirst() else {
                    throw WrongUsage(description: "\(argument) needs a value\n\(Self.usage)")
                }
                return value
            }

            func number(in range: ClosedRange<UInt64>) throws(WrongUsage) -> UInt64 {
                let text = try value()
                guard let number = UInt64(text), range.contains(number) else {
                    throw WrongUsage(
                        description: "\(argument) takes a number from \(range.lowerBound) to \(range.upperBound)"
                    )
                }
                return number
            }
        }
        let known = Scenario.all.map(\.name)
        if let unknown = only.first(where: { !known.contains($0) }) {
            throw WrongUsage(
                description: "there is no scenario '\(unknown)'; there are: \(known.joined(separator: ", "))"
            )
        }
    }

    var scenarios: [Scenario] {
        Scenario.all.filter { only.isEmpty || only.contains($0.name) }
    }
}

struct WrongUsage: Error, CustomStringConvertible {
    var description: String
}
