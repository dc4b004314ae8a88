import FuzzDriver
import JunctionSecret
import JunctionSession

@testable import ProviderAnswers

/// Parses arbitrary bytes as a provider's answer: the first byte selects the status, the first line is a header, the
/// rest is the body.
@main
enum FuzzAnswers {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

private let now = Moment(wall: WallTime(milliseconds: 1_795_219_200_000), uptime: Uptime(milliseconds: 3_600_000))
private let statuses = [200, 201, 204, 302, 400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 504]

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    guard let choice = input.first else { return 0 }
    let rest = input.dropFirst()
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    let body = rest.dropFirst(line.count + 1)
    let header = String(decoding: line, as: UTF8.self)
    let answer = HTTPAnswer(
        status: statuses[Int(choice) % statuses.count],
        headers: [("date", header), ("retry-after", header)],
        body: SharedSecret(copying: UnsafeRawBufferPointer(rebasing: body)),
        place: "https://provider.example"
    )

    if let wait = answer.retryAfter(now: now.wall), !(Duration.seconds(1)...Duration.seconds(3_600)).contains(wait) {
        fatalError("A Retry-After outside its bounds")
    }
    _ = answer.unavailability(now: now.wall)
    let clock = ServerClock(answer, sentAt: now.wall, receivedAt: now.wall + .seconds(1))
    if let granted = TokenAnswer(answer.body, sentAt: now) {
        if granted.token == nil, granted.refreshToken == nil { fatalError("An answer with neither token") }
        granted.token.map(check)
    }
    if case .granted(let token)? = SessionsAnswer(answer.body, for: "anna", clock: clock, sentAt: now) { check(token) }
    _ = JunctionVerdict(answer)
    _ = SocialVerdict(refusal: answer)
    if let registration = Registration(answer.body) {
        guard Registration(registration.sealed) == registration else { fatalError("Not understood again") }
    }
    _ = try? SignInToken(answer.body)
    return 0
}

private func check(_ token: Grant.Token) {
    guard let secret = token.secret, BearerToken.fitsHeader(secret) else { fatalError("A token that fits no header") }
}
