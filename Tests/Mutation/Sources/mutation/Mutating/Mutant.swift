/// One small change to the sources that should make a test fail.
struct Mutant: Hashable, Sendable {
    /// Its number in the whole run, in the order of the sources.
    var number: Int
    /// Relative to the project's root.
    var file: String
    var line: Int
    var kind: Kind
    var original: String
    var mutated: String
    /// The bytes of the file that `text` replaces.
    var extent: Range<Int>
    var text: String
    /// The function around it; `nil` for a literal outside of all functions.
    var body: Body?

    /// What kind of mistake it is.
    enum Kind: String, CaseIterable, Sendable {
        case relaxComparison = "relax-comparison"
        case negateComparison = "negate-comparison"
        case negateCondition = "negate-condition"
        case dropCondition = "drop-condition"
        case dropNegation = "drop-negation"
        case swapAndOr = "swap-and-or"
        case flipLiteral = "flip-literal"
        case swapMinMax = "swap-min-max"
        case dropElement = "drop-element"
        case dropOperand = "drop-operand"
        case dropEffect = "drop-effect"
        case dropAssignment = "drop-assignment"
        case dropCall = "drop-call"
        case dropBlock = "drop-block"
        case swapStatements = "swap-statements"
        case guardLeaves = "guard-leaves"
        case emptyFunction = "empty-function"
    }

    /// The statements of a function, an initializer or an accessor.
    struct Body: Hashable, Sendable {
        var extent: Range<Int>
        /// Whether every path through it has to return a value or throw.
        var hasResult: Bool
    }
}

extension String {
    /// In one line, for tables and for comparing: every stretch of white space is one space.
    var inOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
