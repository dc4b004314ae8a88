import FuzzDriver

@testable import JunctionToml

/// Parses arbitrary bytes as a configuration file.
@main
enum FuzzSettings {
    static func main() {
        fuzz(fuzzOneInput)
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeRawBufferPointer(start: bytes, count: count))
    do throws(TomlFault) {
        let settings = try TomlReader.read(input)
        let lines = 1 + input.count { $0 == UInt8(ascii: "\n") }
        guard areInFile(settings, lines) else { fatalError("A setting on a line that the file does not have") }
    } catch {
        let lines = 1 + input.count { $0 == UInt8(ascii: "\n") }
        guard (1...lines).contains(error.line), !error.message.isEmpty else {
            fatalError("A fault on a line that the file does not have")
        }
    }
    return 0
}

private func areInFile(_ table: [String: Setting], _ lines: Int) -> Bool {
    table.values.allSatisfy { setting in
        guard (1...lines).contains(setting.line) else { return false }
        switch setting.value {
        case .table(let inner): return areInFile(inner, lines)
        case .list(let values): return values.allSatisfy { (1...lines).contains($0.line) }
        case .string, .integer, .boolean, .other: return true
        }
    }
}
