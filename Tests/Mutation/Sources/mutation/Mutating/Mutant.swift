/// One small change to the sources which a good test should mind.
struct Mutant: Hashable, Sendable {
    /// Its number in the whole run; the order of the sources.
    var number: Int
    /// Relative to the project's root.
    var file: String
    var line: Int
    var kind: Kind
    var original: String
    var mutated: String
    /// What it touches, in the original's bytes.
    var extent: Range<Int>
    /// The function around it, in the original's bytes.
    var function: Range<Int>

    /// What kind of mistake it plays.
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

        /// Whether statements are missing in it, which others may rely on.
        var takesAway: Bool {
            [.dropEffect, .dropAssignment, .dropCall, .dropBlock, .swapStatements, .guardLeaves].contains(self)
        }
    }
}

extension String {
    /// In one line, for tables and for comparing: every stretch of white space is one space.
    var inOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
