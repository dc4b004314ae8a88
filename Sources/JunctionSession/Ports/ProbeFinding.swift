/// One result of `doctor`.
package struct ProbeFinding: Equatable, Sendable {
    package enum Verdict: String, Sendable {
        case ok
        case note
        case problem
    }

    package var name: String
    package var verdict: Verdict
    package var detail: String
    package var remedy: String?

    package init(name: String, verdict: Verdict, detail: String, remedy: String? = nil) {
        self.name = name
        self.verdict = verdict
        self.detail = detail
        self.remedy = remedy
    }
}
