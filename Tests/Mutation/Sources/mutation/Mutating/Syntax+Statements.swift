import SwiftSyntax

/// The classification of statements.
extension CodeBlockItemSyntax {
    /// The expression of the statement, also for `if` and `switch`.
    var expression: ExprSyntax? {
        switch item {
        case .expr(let expression): expression
        case .stmt(let statement): statement.as(ExpressionStmtSyntax.self)?.expression
        case .decl: nil
        }
    }

    /// Whether it is an assignment, or a call whose result is unused.
    var isSimpleStatement: Bool {
        guard let bare = expression?.bare else { return false }
        if let call = bare.as(FunctionCallExprSyntax.self) {
            return !call.isAssertion && !call.isImplicitMember && !call.isInitialisation
        }
        return bare.as(InfixOperatorExprSyntax.self)?.isAssignment ?? false
    }

    /// Whether it is a loop, or an `if` without `else`, with more than one simple statement.
    var isBlockThatMayGo: Bool {
        if case .stmt(let statement) = item {
            if let loop = statement.as(ForStmtSyntax.self) { return !loop.body.isOneSimpleStatement }
            if let loop = statement.as(WhileStmtSyntax.self) { return !loop.body.isOneSimpleStatement }
        }
        guard let choice = expression?.as(IfExprSyntax.self) else { return false }
        return choice.elseBody == nil && !choice.body.isOneSimpleStatement
    }

    /// Whether it is `self.name = …` or `name = …` in an initialiser, which cannot be dropped.
    var isInitialisation: Bool {
        guard expression?.as(InfixOperatorExprSyntax.self)?.isAssignment ?? false, let body = parent?.parent,
            body.is(CodeBlockSyntax.self)
        else { return false }
        return body.parent?.is(InitializerDeclSyntax.self) ?? false
    }

    /// The kind of the mutant that drops it.
    var kindWhenDropped: Mutant.Kind {
        if let infix = expression?.bare.as(InfixOperatorExprSyntax.self) {
            return infix.operator.trimmedDescription == "+=" && infix.rightOperand.isCallOrArray
                ? .dropEffect : .dropAssignment
        }
        let callee = expression?.bare.as(FunctionCallExprSyntax.self)?.calledExpression
        return callee?.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "append" ? .dropEffect : .dropCall
    }

    /// The two sides of an assignment. `x.append(y)` counts as one.
    var assignment: (target: String, value: String, calls: Bool)? {
        if let infix = expression?.as(InfixOperatorExprSyntax.self), infix.isAssignment {
            let value = infix.rightOperand
            return (infix.leftOperand.trimmedDescription, value.trimmedDescription, Syntax(value).calls)
        }
        guard kindWhenDropped == .dropEffect, let call = expression?.as(FunctionCallExprSyntax.self),
            let target = call.calledExpression.as(MemberAccessExprSyntax.self)?.base
        else { return nil }
        return (target.trimmedDescription, call.arguments.trimmedDescription, Syntax(call.arguments).calls)
    }
}

extension Syntax {
    /// Whether it calls a function that may change something here or in an argument.
    fileprivate var calls: Bool {
        if self.is(ClosureExprSyntax.self) { return true }
        if let call = self.as(FunctionCallExprSyntax.self), !call.isMaking { return true }
        return children(viewMode: .sourceAccurate).contains(where: \.calls)
    }
}

extension CodeBlockSyntax {
    fileprivate var isOneSimpleStatement: Bool {
        statements.count == 1 && (statements.first?.isSimpleStatement ?? false)
    }
}

extension ExprSyntax {
    /// The expression without `try` and `await`.
    fileprivate var bare: ExprSyntax {
        if let attempt = self.as(TryExprSyntax.self) { return attempt.expression.bare }
        if let waiting = self.as(AwaitExprSyntax.self) { return waiting.expression.bare }
        return self
    }

    fileprivate var isCallOrArray: Bool {
        bare.is(FunctionCallExprSyntax.self) || bare.is(ArrayExprSyntax.self) || bare.is(DeclReferenceExprSyntax.self)
            || bare.is(InfixOperatorExprSyntax.self)
    }
}

extension InfixOperatorExprSyntax {
    fileprivate var isAssignment: Bool {
        if self.operator.is(AssignmentExprSyntax.self) { return true }
        guard let symbol = self.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
        return symbol.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(symbol)
    }
}

extension FunctionCallExprSyntax {
    /// Whether it is an assertion. Dropping one has no visible effect.
    var isAssertion: Bool {
        let names = ["assert", "assertionFailure", "precondition", "preconditionFailure", "fatalError"]
        return names.contains(calledExpression.trimmedDescription)
    }

    /// Whether it is a value such as `.reply(…)`.
    fileprivate var isImplicitMember: Bool {
        calledExpression.as(MemberAccessExprSyntax.self).map { $0.base == nil } ?? false
    }

    /// Whether it is `self.init(…)`, which cannot be dropped.
    fileprivate var isInitialisation: Bool {
        calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "init"
    }

    /// Whether it only creates a value, such as `Session(…)` or `.reply(…)`.
    fileprivate var isMaking: Bool {
        isImplicitMember || calledExpression.trimmedDescription.first?.isUppercase ?? false
    }
}
