import Glibc

/// The figures to measure, and the programs.
struct Options {
    var programs: [String: String] = [:]
    /// The requested figures; empty: all of them.
    var only: [String] = []
    /// Fewer repetitions: a check that everything works.
    var isQuick = false
    /// Gives both sides priority over ordinary processes, for a machine with other load.
    var isPreferred = false
    /// The folder of sockets, state and logs. Not /tmp, which may be a tmpfs.
    var directory = "/var/tmp"

    static let usage = """
        usage: bench [--junctiond PATH] [--junctionctl PATH] [--sandbox PATH] [--only NAME,…] [--quick] [--realtime]
                     [--directory DIR]

          --junctiond, --junctionctl, --sandbox   the built programs; else those of `make release`
          --only NAME,…     of \(Bench.figures.map { type(of: $0).name }.joined(separator: ", "))
          --quick           fewer repetitions: a trial, no measurement
          --realtime        both sides before all other processes (root); for a machine that is not idle
          --directory DIR   a temporary folder is made in it, on the disk to be measured (/var/tmp)

        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": isQuick = true
            case "--realtime": isPreferred = true
            case "--junctiond", "--junctionctl": programs[String(argument.dropFirst(2))] = try value()
            case "--sandbox": programs["junction-sandbox"] = try value()
            case "--only": only = try value().split(separator: ",").map(String.init)
            case "--directory": directory = try value()
            default: throw Trouble("unknown argument '\(argument)'\n\(Self.usage)")
            }

            func value() throws -> String {
                guard let value = rest.popFirst() else { throw Trouble("\(argument) needs a value\n\(Self.usage)") }
                return value
            }
        }
        let known = Bench.figures.map { type(of: $0).name }
        if let unknown = only.first(where: { !known.contains($0) }) {
            throw Trouble("there is no figure '\(unknown)'; there are: \(known.joined(separator: ", "))")
        }
    }
}
