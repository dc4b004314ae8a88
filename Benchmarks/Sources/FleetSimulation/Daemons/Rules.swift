package import JunctionSession

/// pizauth and many others: shortly before the expiry, and then at a fixed interval.
package enum FixedLead: RenewalRule {
    package static let name = "fixed lead"

    package static func renewalShare(using random: inout Randomness) -> Double { 1 - 90 / 3_600 }

    package static func delay(
        afterFailures failures: Int,
        asked: Duration?,
        left: Duration,
        using random: inout Randomness
    ) -> Duration { .seconds(40) }
}

/// SPIRE's agent: half of the lifetime ± 10 %, drawn again every five seconds; 5 s × 1.5ⁿ ± 10 % up to 8 min.
package enum HalfLife: RenewalRule {
    package static let name = "SPIRE"

    package static func renewalShare(using random: inout Randomness) -> Double {
        var age = 0.45 + random.uniform(in: 0...(5 / 3_600))
        while age < random.uniform(in: 0.45...0.55) { age += 5 / 3_600 }
        return age
    }

    package static func delay(
        afterFailures failures: Int,
        asked: Duration?,
        left: Duration,
        using random: inout Randomness
    ) -> Duration {
        let grown = (1..<max(failures, 1)).reduce(5.0) { delay, _ in min(delay * 1.5, 480) }
        return .milliseconds(Int64(grown * random.uniform(in: 900...1_100)))
    }
}

/// kubelet's certificates: 70–90 % of the lifetime; five tries 2 s × 2ⁿ apart, up to 10 % longer, then one every 32 s.
/// Its client respects `Retry-After`.
package enum LateShare: RenewalRule {
    package static let name = "kubelet"

    package static func renewalShare(using random: inout Randomness) -> Double { random.uniform(in: 0.7...0.9) }

    package static func delay(
        afterFailures failures: Int,
        asked: Duration?,
        left: Duration,
        using random: inout Randomness
    ) -> Duration {
        if let asked { return asked }
        guard failures < 5 else { return .seconds(32) }
        return .milliseconds(Int64(Double(1_000 << failures) * random.uniform(in: 1...1.1)))
    }
}

/// junctiond's numbers with its former backoff, which did not depend on the expiry of the token.
package enum BlindBackoff: RenewalRule {
    package static let name = "as it was"

    package static func renewalShare(using random: inout Randomness) -> Double {
        random.uniform(in: RenewalPolicy.share)
    }

    package static func delay(
        afterFailures failures: Int,
        asked: Duration?,
        left: Duration,
        using random: inout Randomness
    ) -> Duration {
        if let asked { return asked * random.uniform(in: 1...(1 + RenewalPolicy.retryAfterSpread)) }
        let grown = RenewalPolicy.firstBackoff * (1 << min(failures - 1, 20))
        let ceiling = min(RenewalPolicy.longestBackoff, grown)
        return max(RenewalPolicy.shortestBackoff, ceiling * random.uniform(in: 0...1))
    }
}
