import SwiftSyntax

/// Statements left out or in another order, blocks left out, functions that return at once.
extension MutantFinder {
    /// A statement that does nothing, so that no block becomes empty.
    private static let nothing = "()"

    /// Each statement of a block is left out, or changes places with the next.
    func addStatements(_ items: [CodeBlockItemSyntax]) {
        let simple = items.map { $0.isSimpleStatement && !$0.isInitialisation }
        for index in items.indices.dropLast() where simple[index] && simple[index + 1] {
            let (first, second) = (items[index], items[index + 1])
            guard !commute(first, second) else { continue }
            let (one, other) = (first.item.trimmedDescription, second.item.trimmedDescription)
            add(
                .swapStatements,
                first.item,
                becoming: "\(other); \(one)",
                original: "\(one); \(other)",
                extent: first.item.extent.lowerBound..<second.item.extent.upperBound
            )
        }
        for (index, item) in items.enumerated() {
            if item.isBlockThatMayGo {
                add(.dropBlock, item.item, becoming: "", text: Self.nothing)
            } else if simple[index] {
                add(item.kindWhenDropped, item.item, becoming: "", text: Self.nothing)
            }
        }
    }

    /// Whether two statements are assignments that neither call nor read what the other one writes.
    private func commute(_ first: CodeBlockItemSyntax, _ second: CodeBlockItemSyntax) -> Bool {
        guard let one = first.assignment, let other = second.assignment else { return false }
        let (target, otherTarget) = (one.target, other.target)
        return !one.calls && !other.calls && !other.value.contains(target) && !one.value.contains(otherTarget)
            && !target.hasPrefix(otherTarget) && !otherTarget.hasPrefix(target)
    }

    /// Each branch of an `if` with an `else` is left out.
    func addBranches(_ node: IfExprSyntax) {
        guard node.elseBody != nil else { return }
        addBranch(node.body)
        if case .codeBlock(let body)? = node.elseBody { addBranch(body) }
    }

    private func addBranch(_ body: CodeBlockSyntax) {
        let statements = body.statements
        // A statement that stands alone is left out by itself.
        guard let first = statements.first, statements.count > 1 || !first.isSimpleStatement else { return }
        add(.dropBlock, statements, becoming: "", text: Self.nothing)
    }

    /// The function returns at once, with nothing.
    func addEmptyFunction(_ statements: CodeBlockItemListSyntax, returning type: TypeSyntax?, named name: String) {
        guard let first = statements.first else { return }
        // Of a function with one statement that statement is left out, which is the same.
        let isAssertion = first.expression?.as(FunctionCallExprSyntax.self)?.isAssertion ?? false
        let isOneThing = first.isSimpleStatement || first.isBlockThatMayGo || isAssertion
        if type.isVoid, statements.count == 1, isOneThing { return }
        // A literal that is returned is mutated as a literal.
        if ["return true", "return false"].contains(statements.trimmedDescription) { return }
        for answer in type.emptyAnswers where statements.trimmedDescription != answer {
            add(.emptyFunction, first, becoming: answer, original: "{ \(name) }", extent: statements.extent)
        }
    }
}

extension TypeSyntax? {
    var isVoid: Bool { ["Void", "()", nil].contains(self?.trimmedDescription) }

    /// Statements that return nothing of this type.
    fileprivate var emptyAnswers: [String] {
        guard !isVoid, let type = self else { return ["return"] }
        if type.is(ArrayTypeSyntax.self) { return ["return []"] }
        if type.is(OptionalTypeSyntax.self) { return ["return nil"] }
        return type.trimmedDescription == "Bool" ? ["return true", "return false"] : []
    }
}
