import SwiftSyntax

/// Operators, conditions, guards, `min` and `max`.
extension MutantFinder {
    func addOperators(_ node: InfixOperatorExprSyntax) {
        switch node.symbol {
        case "==": replaceOperator(of: node, .negateComparison, "!=")
        case "!=": replaceOperator(of: node, .negateComparison, "==")
        case "&&": replaceOperator(of: node, .swapAndOr, "||")
        case "||": replaceOperator(of: node, .swapAndOr, "&&")
        case "<": replaceOrder(of: node, relaxed: "<=", negated: ">=")
        case "<=": replaceOrder(of: node, relaxed: "<", negated: ">")
        case ">": replaceOrder(of: node, relaxed: ">=", negated: "<=")
        case ">=": replaceOrder(of: node, relaxed: ">", negated: "<")
        default: break
        }
    }

    private func replaceOrder(of node: InfixOperatorExprSyntax, relaxed: String, negated: String) {
        replaceOperator(of: node, .relaxComparison, relaxed)
        replaceOperator(of: node, .negateComparison, negated)
    }

    private func replaceOperator(of node: InfixOperatorExprSyntax, _ kind: Mutant.Kind, _ symbol: String) {
        let mutated = "\(node.leftOperand.trimmedDescription) \(symbol) \(node.rightOperand.trimmedDescription)"
        // The new operator may bind less tightly than the one next to it.
        add(kind, node, becoming: mutated, text: "(\(mutated))")
    }

    /// The opposite of a condition, unless an operator in it is negated anyway.
    func negate(_ condition: ExprSyntax) {
        if condition.is(BooleanLiteralExprSyntax.self) { return }
        if let prefixed = condition.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "!" { return }
        if let symbol = condition.as(InfixOperatorExprSyntax.self)?.symbol,
            ["==", "!=", "<", "<=", ">", ">=", "&&", "||"].contains(symbol)
        {
            return
        }
        add(.negateCondition, condition, becoming: "!(\(condition.trimmedDescription))")
    }

    func addConditions(_ conditions: ConditionElementListSyntax) {
        for element in conditions {
            guard case .expression(let condition) = element.condition else { continue }
            if conditions.count > 1 { add(.dropCondition, condition, becoming: "true") }
            negate(condition)
        }
    }

    func addGuard(_ node: GuardStmtSyntax) {
        let conditions = node.conditions.trimmedDescription
        add(
            .guardLeaves,
            node,
            becoming: "guard false",
            original: "guard \(conditions)",
            extent: node.conditions.extent,
            // What the conditions bind is used later.
            text: "false, \(conditions)"
        )
        for element in node.conditions {
            guard case .expression(let condition) = element.condition else { continue }
            add(.dropCondition, condition, becoming: "true")
        }
    }

    func addMinMax(_ node: FunctionCallExprSyntax) {
        let others = ["min": "max", "max": "min"]
        if let callee = node.calledExpression.as(DeclReferenceExprSyntax.self), let other = others[callee.baseName.text]
        {
            guard node.arguments.count == 2, node.arguments.allSatisfy({ $0.label == nil }) else { return }
            add(.swapMinMax, node, becoming: "\(other)(\(node.arguments.trimmedDescription))")
        } else if let callee = node.calledExpression.as(MemberAccessExprSyntax.self), let base = callee.base,
            let other = others[callee.declName.baseName.text], node.arguments.isEmpty, node.trailingClosure == nil
        {
            add(.swapMinMax, node, becoming: "\(base.trimmedDescription).\(other)()")
        }
    }
}

/// Parts of arrays.
extension MutantFinder {
    func addElements(_ node: ArrayExprSyntax) {
        // The only element of an operand is dropped with the operand.
        if node.elements.count == 1, node.parent?.as(InfixOperatorExprSyntax.self)?.symbol == "+" { return }
        let elements = node.elements.map(\.expression.trimmedDescription)
        for (index, element) in elements.enumerated() {
            let others = elements.without(index).joined(separator: ", ")
            let original = "\(element) in \(node.trimmedDescription)"
            add(.dropElement, node, becoming: "[\(others)]", original: original)
        }
    }

    /// A chain of `+` with an array in it loses one part.
    func addOperands(_ node: InfixOperatorExprSyntax) {
        guard node.symbol == "+", node.parent?.as(InfixOperatorExprSyntax.self)?.symbol != "+" else { return }
        let operands = ExprSyntax(node).operandsOfPlus
        guard node.isReturnedAsArray || operands.contains(where: { $0.is(ArrayExprSyntax.self) }) else { return }
        let texts = operands.map(\.trimmedDescription)
        for (index, text) in texts.enumerated() {
            let original = "\(text) in \(node.trimmedDescription)"
            add(.dropOperand, node, becoming: texts.without(index).joined(separator: " + "), original: original)
        }
    }
}

extension InfixOperatorExprSyntax {
    fileprivate var symbol: String? { self.operator.as(BinaryOperatorExprSyntax.self)?.operator.text }

    /// Whether a function returns it, and declares an array as its result.
    fileprivate var isReturnedAsArray: Bool {
        guard parent?.is(ReturnStmtSyntax.self) ?? false else { return false }
        var node = Syntax(self)
        while let parent = node.parent, !parent.is(ClosureExprSyntax.self) {
            node = parent
            let result = node.as(FunctionDeclSyntax.self)?.signature.returnClause?.type
            if let type = result ?? node.as(PatternBindingSyntax.self)?.typeAnnotation?.type {
                return type.is(ArrayTypeSyntax.self)
            }
        }
        return false
    }
}

extension ExprSyntax {
    /// The operands of a chain of `+`, in order; itself if it is none.
    fileprivate var operandsOfPlus: [ExprSyntax] {
        guard let infix = self.as(InfixOperatorExprSyntax.self), infix.symbol == "+" else { return [self] }
        return infix.leftOperand.operandsOfPlus + infix.rightOperand.operandsOfPlus
    }
}

extension [String] {
    fileprivate func without(_ index: Int) -> [String] {
        Array(self[..<index] + self[(index + 1)...])
    }
}
