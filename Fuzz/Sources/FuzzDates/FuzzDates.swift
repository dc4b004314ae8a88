import FuzzDriver
import JunctionProtocol
import JunctionSession

@testable import VendorAnswers

/// Reads arbitrary text as a date in each form that we read, and as numbers that are dates.
@main
enum FuzzDates {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    let text = String(decoding: input, as: UTF8.self)
    if let time = Timestamp(text) { check(time) }
    if let time = IsoTime.parse(text) {
        // Both forms mean the same wherever both take a text.
        if let same = Timestamp(text), same.milliseconds != time.milliseconds { fatalError("Two readings of one time") }
    }
    _ = HttpDate.parse(text)
    if count >= 8 { check(Timestamp(milliseconds: input.loadUnaligned(as: Int64.self))) }
    return 0
}

/// What is written is read as what it was, as far as four digits of a year go.
private func check(_ time: Timestamp) {
    guard let again = Timestamp(time.description), Timestamp(again.description) == again else {
        fatalError("A time that is not read again")
    }
    let range = Int64(-62_167_219_200_000)...253_402_300_799_999
    guard !range.contains(time.milliseconds) || again == time else { fatalError("A time that became another") }
}
