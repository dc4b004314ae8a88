import CFuzzer
import Glibc

/// Runs libFuzzer, which calls `oneInput` until it finds a crash or its time is over.
package func fuzz(_ oneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) -> Never {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, oneInput))
}
