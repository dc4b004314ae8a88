import JunctionSession

/// How it stands with each credential of the service manager, for `doctor`.
extension Provisioning {
    var findings: [ProbeFinding] { candidates.map(\.finding) }
}

extension Candidates.Candidate {
    fileprivate var finding: ProbeFinding {
        switch situation {
        case .unused(let reason): finding(.ok, "The credential \(name) is not used: \(reason).")
        case .hasSignedIn: finding(.ok, "The credential \(name) has signed a user in.")
        case .tried(let trouble):
            finding(.note, "The credential \(name) is being tried" + (trouble.map { "; last: \($0)" } ?? "."))
        case .useless(let reason):
            finding(
                .problem,
                "The credential \(name) signs nobody in: \(reason)",
                "Pass a new one: it is tried as soon as it is in the place of the old one, or after a restart"
            )
        case .unknowable(let reason):
            finding(
                .problem,
                "The credential \(name) is not tried, because it may have been used before: \(reason)",
                "Have the notes of used credentials readable again, and reload or restart"
            )
        }
    }

    private func finding(_ verdict: ProbeFinding.Verdict, _ detail: String, _ remedy: String? = nil) -> ProbeFinding {
        ProbeFinding(name: "provisioning", verdict: verdict, detail: detail, remedy: remedy)
    }
}
