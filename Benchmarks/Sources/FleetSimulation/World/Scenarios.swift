import JunctionSession

extension Scenario {
    private static let second: Milliseconds = 1_000
    private static let minute: Milliseconds = 60 * second
    private static let hour: Milliseconds = 60 * minute

    /// All scenarios of the page, in its order.
    package static let all = [
        signIn, grantedTogether, steady, downTen, downTenUnknown, downTenWithApps, downSixty, tooManyRequests,
        halfReboots, wrongClocks, regionNetwork, regionNetworkTen, regionPower,
    ]

    static let signIn = Scenario(
        name: "sign-in",
        title: "Everybody signs in within an hour",
        length: 3 * hour,
        start: .signedOut(within: hour),
        measuredFrom: hour,
        bounds: [Bound(figure: .peak, target: 1_100)]
    )

    static let grantedTogether = Scenario(
        name: "granted-together",
        title: "All tokens were granted within one minute",
        length: 2 * hour,
        start: .granted(within: minute),
        bounds: [Bound(figure: .peak, target: 1_100)]
    )

    static let steady = Scenario(name: "steady", title: "Steady state", length: 30 * minute, start: .steady)

    static let downTen = down(
        "down-10",
        "The provider is down for 10 minutes (503)",
        for: 10 * minute,
        bounds: [Bound(figure: .tokenless, target: 20)]
    )

    static let downTenUnknown = down(
        "down-10-unknown",
        "The provider is down for 10 minutes (502: nobody knows what was done)",
        for: 10 * minute,
        isAmbiguous: true,
        bounds: [Bound(figure: .tokenless, target: 20)]
    )

    static let downTenWithApps = down(
        "down-10-apps",
        "The same with 503, and an app on each device asks for the token once a minute",
        for: 10 * minute,
        asksEvery: minute,
        bounds: [Bound(figure: .tokenless, target: 20)]
    )

    static let downSixty = down("down-60", "The provider is down for 60 minutes (503)", for: hour)

    private static func down(
        _ name: String,
        _ title: String,
        for length: Milliseconds,
        isAmbiguous: Bool = false,
        asksEvery: Milliseconds? = nil,
        bounds: [Bound] = []
    ) -> Scenario {
        Scenario(
            name: name,
            title: title,
            length: 10 * minute + length + 30 * minute,
            start: .steady,
            spells: [
                Spell(from: 10 * minute, until: 10 * minute + length, kind: .down(isAmbiguous: isAmbiguous))
            ],
            asksEvery: asksEvery,
            bounds: bounds
        )
    }

    static let tooManyRequests = Scenario(
        name: "too-many-requests",
        title: "200 requests a second for 20 minutes, all others get a 429 with Retry-After: 120",
        length: 60 * minute,
        start: .steady,
        spells: [
            Spell(
                from: 10 * minute,
                until: 30 * minute,
                kind: .limited(perSecond: 200, retryAfter: .seconds(120))
            )
        ]
    )

    static let halfReboots = Scenario(
        name: "half-reboots",
        title: "Half of the fleet reboots at once",
        length: 40 * minute,
        start: .steady,
        reboot: Reboot(at: 10 * minute, share: 0.5, boots: (30 * second)...(90 * second))
    )

    static let wrongClocks = Scenario(
        name: "wrong-clocks",
        title: "The same; of these a third comes up weeks behind, a third a day ahead, for 5 to 60 s",
        length: 40 * minute,
        start: .steady,
        reboot: Reboot(
            at: 10 * minute,
            share: 0.5,
            boots: (30 * second)...(90 * second),
            clockSetAfter: (5 * second)...(60 * second)
        )
    )

    static let regionNetwork = regionNetwork(
        "region-network",
        "A region (30 %) has no network for an hour and a half, and then has it back",
        for: 90 * minute,
        bounds: [Bound(figure: .peak, target: 2_000)]
    )

    static let regionNetworkTen = regionNetwork(
        "region-network-10",
        "A region (30 %) has no network for ten minutes, and then has it back",
        for: 10 * minute
    )

    private static func regionNetwork(
        _ name: String,
        _ title: String,
        for length: Milliseconds,
        bounds: [Bound] = []
    ) -> Scenario {
        Scenario(
            name: name,
            title: title,
            length: 10 * minute + length + 30 * minute,
            start: .steady,
            spells: [Spell(from: 10 * minute, until: 10 * minute + length, kind: .cutOff(share: 0.3))],
            measuredFrom: 10 * minute + length,
            bounds: bounds
        )
    }

    static let regionPower = Scenario(
        name: "region-power",
        title: "A region (30 %) has no power for an hour and a half, and boots within a minute",
        length: 130 * minute,
        start: .steady,
        reboot: Reboot(at: 10 * minute, share: 0.3, boots: (90 * minute)...(91 * minute)),
        measuredFrom: 100 * minute
    )
}
