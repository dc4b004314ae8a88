import SwiftSyntax

/// Mutants of operators, conditions, guards, `min` and `max`.
extension MutantInserter {
    func insertOperator(_ node: InfixOperatorExprSyntax) {
        guard let symbol = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return }
        switch symbol.text {
        case "==": insert(.negateComparison, at: node, as: "mutantFlip", becoming: node.with("!="))
        case "!=": insert(.negateComparison, at: node, as: "mutantFlip", becoming: node.with("=="))
        case "&&": swapAndOr(node, symbol, "mutantAnd", becoming: "||")
        case "||": swapAndOr(node, symbol, "mutantOr", becoming: "&&")
        case "<": insertOrder(node, symbol, "mutantLess", relaxed: "<=", negated: ">=")
        case "<=": insertOrder(node, symbol, "mutantLessOrEqual", relaxed: "<", negated: ">")
        case ">": insertOrder(node, symbol, "mutantGreater", relaxed: ">=", negated: "<=")
        case ">=": insertOrder(node, symbol, "mutantGreaterOrEqual", relaxed: ">", negated: "<")
        default: break
        }
    }

    private func swapAndOr(
        _ node: InfixOperatorExprSyntax,
        _ symbol: TokenSyntax,
        _ function: String,
        becoming other: String
    ) {
        let original = node.trimmedDescription
        guard let number = count(.swapAndOr, at: node, original, becoming: node.with(other)) else { return }
        schema.wrap(node.extent, in: "\(function)(", and: ", \(number))", for: [number])
        schema.replace(symbol.extent, with: ",", for: [number])
    }

    private func insertOrder(
        _ node: InfixOperatorExprSyntax,
        _ symbol: TokenSyntax,
        _ function: String,
        relaxed: String,
        negated: String
    ) {
        let original = node.trimmedDescription
        let numbers = [
            count(.relaxComparison, at: node, original, becoming: node.with(relaxed)),
            count(.negateComparison, at: node, original, becoming: node.with(negated)),
        ]
        let inserted = numbers.compactMap(\.self)
        guard !inserted.isEmpty else { return }
        let list = numbers.map { String($0 ?? -1) }.joined(separator: ", ")
        schema.wrap(node.extent, in: "\(function)(", and: ", \(list))", for: inserted)
        schema.replace(symbol.extent, with: ",", for: inserted)
    }

    /// Inserts the negation of a condition, unless a mutant of its operator has the same effect.
    func negate(_ condition: ExprSyntax) {
        if condition.is(BooleanLiteralExprSyntax.self) { return }
        if let prefixed = condition.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "!" { return }
        if let infix = condition.as(InfixOperatorExprSyntax.self),
            let symbol = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
            ["==", "!=", "<", "<=", ">", ">=", "&&", "||"].contains(symbol)
        {
            return
        }
        insert(.negateCondition, at: condition, as: "mutantFlip", becoming: "!(\(condition.trimmedDescription))")
    }

    func insertConditions(_ conditions: ConditionElementListSyntax) {
        for element in conditions {
            guard case .expression(let condition) = element.condition else { continue }
            if conditions.count > 1 { insert(.dropCondition, at: condition, as: "mutantForce", becoming: "true") }
            negate(condition)
        }
    }

    func insertGuard(_ node: GuardStmtSyntax) {
        let conditions = node.conditions.trimmedDescription
        if let number = count(.guardLeaves, at: node, "guard \(conditions)", becoming: "guard false") {
            schema.wrap(node.conditions.extent, in: "!mutant(\(number)), ", for: [number])
        }
        for element in node.conditions {
            guard case .expression(let condition) = element.condition else { continue }
            insert(.dropCondition, at: condition, as: "mutantForce", becoming: "true")
        }
    }

    func insertMinMax(_ node: FunctionCallExprSyntax) {
        let others = ["min": "max", "max": "min"]
        if let callee = node.calledExpression.as(DeclReferenceExprSyntax.self), let other = others[callee.baseName.text]
        {
            guard node.arguments.count == 2, node.arguments.allSatisfy({ $0.label == nil }),
                let end = node.rightParen?.extent.lowerBound
            else { return }
            let mutated = "\(other)(\(node.arguments.trimmedDescription))"
            guard let number = count(.swapMinMax, at: node, node.trimmedDescription, becoming: mutated) else { return }
            let function = callee.baseName.text == "min" ? "mutantMin" : "mutantMax"
            schema.replace(callee.extent, with: function, for: [number])
            schema.wrap(end..<end, in: ", \(number)", for: [number])
        } else if let callee = node.calledExpression.as(MemberAccessExprSyntax.self), let base = callee.base,
            let other = others[callee.declName.baseName.text], node.arguments.isEmpty, node.trailingClosure == nil
        {
            let mutated = "\(base.trimmedDescription).\(other)()"
            guard let number = count(.swapMinMax, at: node, node.trimmedDescription, becoming: mutated) else { return }
            schema.wrap(node.extent, in: "(mutant(\(number)) ? \(mutated) : ", and: ")", for: [number])
        }
    }
}

extension InfixOperatorExprSyntax {
    fileprivate func with(_ symbol: String) -> String {
        "\(leftOperand.trimmedDescription) \(symbol) \(rightOperand.trimmedDescription)"
    }
}
