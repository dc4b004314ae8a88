import Testing

@testable import FleetSimulation

@Suite struct ReportTests {
    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567.6, "1,234,568")])
    func `whole numbers are grouped`(value: Double, text: String) {
        #expect(grouped(value) == text)
    }

    @Test(arguments: [(0, "0"), (0.04, "0"), (12.34, "12.3"), (99.96, "100"), (1_234.5, "1,235")])
    func `small numbers have one digit behind the point`(value: Double, text: String) {
        #expect(short(value) == text)
    }

    @Test func `a picture has one line in each half for each rule, within its frame`() throws {
        let figures = Contender.own.run(.steady, 1_000, 1)
        var plot = Plot(of: .steady)
        for name in ["one", "another"] { plot.add(name, figures) }

        let lines = plot.svg.split(separator: "\n").filter { $0.hasPrefix("<polyline") }

        #expect(lines.count == 4)
        for line in lines {
            let points = line.split(separator: "\"")[3].split(separator: " ")
            for point in points {
                let both = point.split(separator: ",").compactMap { Double($0) }
                try #require(both.count == 2)
                #expect((58...748).contains(both[0]))
                #expect((64...448).contains(both[1]))
            }
        }
    }
}
