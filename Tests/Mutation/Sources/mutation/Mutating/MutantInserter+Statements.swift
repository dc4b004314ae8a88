import SwiftSyntax

/// Mutants of statements that are dropped or swapped, dropped blocks, and functions that return at once.
extension MutantInserter {
    /// Inserts the statements of a block: each may be dropped, or swapped with the next one.
    func insertStatements(_ items: [CodeBlockItemSyntax]) {
        let simple = items.map { $0.isSimpleStatement && !$0.isInitialisation }
        // The mutant in which a statement follows the next one.
        var later: [Int?] = items.map { _ in nil }
        for index in items.indices.dropLast() where simple[index] && simple[index + 1] {
            let (first, second) = (items[index], items[index + 1])
            guard !commute(first, second) else { continue }
            let (one, other) = (first.item.trimmedDescription, second.item.trimmedDescription)
            later[index] = count(.swapStatements, at: first.item, "\(one); \(other)", becoming: "\(other); \(one)")
        }
        for (index, item) in items.enumerated() {
            let isBlock = item.isBlockThatMayGo
            guard simple[index] || isBlock else { continue }
            let kind = isBlock ? .dropBlock : item.kindWhenDropped
            let dropped = count(kind, at: item.item, item.item.trimmedDescription, becoming: "")
            if let later = later[index] {
                let next = items[index + 1].item.trimmedDescription
                schema.wrap(item.item.extent, in: "if mutant(\(later)) { \(next) }; ", for: [later])
            }
            let absent = [dropped, index > 0 ? later[index - 1] : nil].compactMap(\.self)
            guard !absent.isEmpty else { continue }
            let condition = absent.map { "mutant(\($0))" }.joined(separator: " || ")
            schema.wrap(item.item.extent, in: "if !(\(condition)) { ", and: " }", for: absent)
        }
    }

    /// Whether two statements are assignments that neither call nor read what the other one writes.
    private func commute(_ first: CodeBlockItemSyntax, _ second: CodeBlockItemSyntax) -> Bool {
        guard let one = first.assignment, let other = second.assignment else { return false }
        let (target, otherTarget) = (one.target, other.target)
        return !one.calls && !other.calls && !other.value.contains(target) && !one.value.contains(otherTarget)
            && !target.hasPrefix(otherTarget) && !otherTarget.hasPrefix(target)
    }

    /// Inserts the branches of an `if` statement with an `else`: each may be empty.
    func insertBranches(_ node: IfExprSyntax) {
        guard node.elseBody != nil, !Syntax(node).isValueExpression else { return }
        insertBranch(node.body)
        if case .codeBlock(let body)? = node.elseBody { insertBranch(body) }
    }

    private func insertBranch(_ body: CodeBlockSyntax) {
        let statements = body.statements
        // A single statement is already dropped by another mutant.
        guard let first = statements.first, statements.count > 1 || !first.isSimpleStatement else { return }
        let text = statements.trimmedDescription
        guard let number = count(.dropBlock, at: statements, text, becoming: "") else { return }
        schema.wrap(statements.extent, in: "if !mutant(\(number)) { ", and: " }", for: [number])
    }

    /// Inserts a function that returns an empty value at once.
    func insertEmptyFunction(_ statements: CodeBlockItemListSyntax, returning type: TypeSyntax?, named name: String) {
        guard let first = statements.first else { return }
        let answers = type.emptyAnswers
        // In a function with one statement, dropping that statement has the same effect.
        let isAssertion = first.expression?.as(FunctionCallExprSyntax.self)?.isAssertion ?? false
        let isOneThing = first.isSimpleStatement || first.isBlockThatMayGo || isAssertion
        if type.isVoid, statements.count == 1, isOneThing { return }
        let isLiteral = statements.count == 1 && first.expression?.is(BooleanLiteralExprSyntax.self) ?? false
        guard !isLiteral else { return }

        for answer in answers where statements.trimmedDescription != answer {
            let mutated = "return \(answer)".inOneLine
            guard let number = count(.emptyFunction, at: first, "{ \(name) }", becoming: mutated) else { continue }
            schema.wrap(statements.extent, in: "if mutant(\(number)) { \(mutated) }; ", for: [number])
        }
        if statements.isValue, !answers.isEmpty {
            schema.wrap(statements.extent, in: "return ", for: [])
        }
    }
}

extension TypeSyntax? {
    fileprivate var isVoid: Bool { ["Void", "()", nil].contains(self?.trimmedDescription) }

    /// The empty values of this type.
    fileprivate var emptyAnswers: [String] {
        guard !isVoid, let type = self else { return [""] }
        if type.is(ArrayTypeSyntax.self) { return ["[]"] }
        if type.is(OptionalTypeSyntax.self) { return ["nil"] }
        return type.trimmedDescription == "Bool" ? ["true", "false"] : []
    }
}
