/// What the mutated module needs beside its own files: the choice of a mutant by an environment variable.
enum Runtime {
    static let fileName = "Mutants.swift"

    /// - Parameter count: the highest number of a mutant.
    static func source(count: Int) -> String {
        """
        import Glibc

        private let activeMutant: Int = getenv("JUNCTION_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

        private nonisolated(unsafe) let trace: UnsafeMutablePointer<UInt8>? = {
            guard let path = getenv("JUNCTION_MUTANT_TRACE") else { return nil }
            let file = open(path, O_RDWR | O_CREAT, 0o600)
            guard file >= 0, ftruncate(file, \(count + 1)) == 0 else { return nil }
            let bytes = mmap(nil, \(count + 1), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            return bytes == MAP_FAILED ? nil : bytes?.assumingMemoryBound(to: UInt8.self)
        }()

        /// Notes that these mutants are reached, and returns the one that is chosen.
        @inline(never)
        public func mutant(_ first: Int, _ last: Int) -> Int {
            if let trace { for number in first...last { trace[number] = 1 } }
            return activeMutant
        }

        public func mutant(_ number: Int) -> Bool { mutant(number, number) == number }

        """
    }
}
