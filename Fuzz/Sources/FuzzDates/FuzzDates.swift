import FuzzDriver
import JunctionProtocol

@testable import ProviderAnswers

/// Parses arbitrary text as a date in each accepted form, and as a number of a date.
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
    _ = HTTPDate.parse(text)
    if count >= 8 { check(Timestamp(milliseconds: input.loadUnaligned(as: Int64.self))) }
    return 0
}

/// A formatted date must be parsed to the same time, for years of four digits.
private func check(_ time: Timestamp) {
    guard let again = Timestamp(time.description), Timestamp(again.description) == again else {
        fatalError("A time that is not read again")
    }
    let range = Int64(-62_167_219_200_000)...253_402_300_799_999
    guard !range.contains(time.milliseconds) || again == time else { fatalError("A time that became another") }
}
