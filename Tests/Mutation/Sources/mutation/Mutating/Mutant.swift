/// One small change to the sources that a good test should detect.
struct Mutant: Hashable, Sendable {
    /// The number in the whole run, in the order of the sources.
    var number: Int
    /// The path relative to the project's root.
    var file: String
    var line: Int
    var kind: Kind
    var original: String
    var mutated: String
    /// The changed range, in bytes of the original.
    var extent: Range<Int>
    /// The range of the enclosing function, in bytes of the original.
    var function: Range<Int>

    /// The kind of the change.
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

        /// Whether the change removes statements on which others may depend.
        var takesAway: Bool {
            [.dropEffect, .dropAssignment, .dropCall, .dropBlock, .swapStatements, .guardLeaves].contains(self)
        }
    }
}

extension String {
    /// The text in one line, for tables and comparisons. Each run of white space becomes one space.
    var inOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
