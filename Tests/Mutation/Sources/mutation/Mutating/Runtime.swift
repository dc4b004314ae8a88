/// The code that is added to a mutated module: the switch, and the operators that are swapped at run time.
///
/// Each operator is one function instead of a choice between two expressions, so that the type checker sees the
/// operands once.
enum Runtime {
    static let fileName = "Mutants.swift"

    /// Returns the source of the runtime.
    ///
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

        @inline(never)
        public func mutant(_ number: Int) -> Bool {
            if let trace, number > 0 { trace[number] = 1 }
            return number == activeMutant
        }

        public func mutantFlip(_ condition: Bool, _ number: Int) -> Bool { condition != mutant(number) }

        public func mutantForce(_ condition: Bool, _ number: Int) -> Bool { mutant(number) || condition }

        public func mutantAnd(
            _ left: Bool,
            _ right: @autoclosure () throws -> Bool,
            _ number: Int
        ) rethrows -> Bool {
            if mutant(number) { return try left || right() }
            return try left && right()
        }

        public func mutantOr(
            _ left: Bool,
            _ right: @autoclosure () throws -> Bool,
            _ number: Int
        ) rethrows -> Bool {
            if mutant(number) { return try left && right() }
            return try left || right()
        }

        public func mutantLess<T: Comparable>(_ left: T, _ right: T, _ relaxed: Int, _ negated: Int) -> Bool {
            if mutant(relaxed) { return left <= right }
            return mutant(negated) ? left >= right : left < right
        }

        public func mutantLessOrEqual<T: Comparable>(_ left: T, _ right: T, _ relaxed: Int, _ negated: Int) -> Bool {
            if mutant(relaxed) { return left < right }
            return mutant(negated) ? left > right : left <= right
        }

        public func mutantGreater<T: Comparable>(_ left: T, _ right: T, _ relaxed: Int, _ negated: Int) -> Bool {
            if mutant(relaxed) { return left >= right }
            return mutant(negated) ? left <= right : left > right
        }

        public func mutantGreaterOrEqual<T: Comparable>(
            _ left: T,
            _ right: T,
            _ relaxed: Int,
            _ negated: Int
        ) -> Bool {
            if mutant(relaxed) { return left > right }
            return mutant(negated) ? left < right : left >= right
        }

        public func mutantMin<T: Comparable>(_ left: T, _ right: T, _ number: Int) -> T {
            mutant(number) ? max(left, right) : min(left, right)
        }

        public func mutantMax<T: Comparable>(_ left: T, _ right: T, _ number: Int) -> T {
            mutant(number) ? min(left, right) : max(left, right)
        }

        public func mutantThin<T>(_ all: [T], _ numbers: Int...) -> [T] {
            zip(all, numbers).filter { !mutant($0.1) }.map(\\.0)
        }

        """
    }
}
