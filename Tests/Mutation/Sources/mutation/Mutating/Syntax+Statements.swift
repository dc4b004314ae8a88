import SwiftSyntax

/// What kind of statement something is.
extension CodeBlockItemSyntax {
    /// The expression it consists of, with `if` and `switch`.
    var expression: ExprSyntax? {
        switch item {
        case .expr(let expression): expression
        case .stmt(let statement): statement.as(ExpressionStmtSyntax.self)?.expression
        case .decl: nil
        }
    }

    /// An assignment, or a call whose result nobody uses.
    var isSimpleStatement: Bool {
        guard let bare = expression?.bare else { return false }
        if let call = bare.as(FunctionCallExprSyntax.self) {
            return !call.isAssertion && !call.isImplicitMember && !call.isInitialisation
        }
        return bare.as(InfixOperatorExprSyntax.self)?.isAssignment ?? false
    }

    /// A loop, or an `if` without `else`, that does more than one simple thing.
    var isBlockThatMayGo: Bool {
        if case .stmt(let statement) = item {
            if let loop = statement.as(ForStmtSyntax.self) { return !loop.body.isOneSimpleStatement }
            if let loop = statement.as(WhileStmtSyntax.self) { return !loop.body.isOneSimpleStatement }
        }
        guard let choice = expression?.as(IfExprSyntax.self) else { return false }
        return choice.elseBody == nil && !choice.body.isOneSimpleStatement
    }

    /// `self.name = …` or `name = …` in an initialiser: it cannot be left out.
    var isInitialisation: Bool {
        guard expression?.as(InfixOperatorExprSyntax.self)?.isAssignment ?? false, let body = parent?.parent,
            body.is(CodeBlockSyntax.self)
        else { return false }
        return body.parent?.is(InitializerDeclSyntax.self) ?? false
    }

    /// What it would be called when it is gone.
    var kindWhenDropped: Mutant.Kind {
        if let infix = expression?.bare.as(InfixOperatorExprSyntax.self) {
            return infix.operator.trimmedDescription == "+=" && infix.rightOperand.isCallOrArray
                ? .dropEffect : .dropAssignment
        }
        let callee = expression?.bare.as(FunctionCallExprSyntax.self)?.calledExpression
        return callee?.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "append" ? .dropEffect : .dropCall
    }

    /// Its two sides, if it is an assignment; `x.append(y)` is one as well.
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
    /// Whether it calls a function that may change something, here or in something that it passes on.
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
    /// Without `try` and `await`.
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
    /// What checks for our own bugs: to leave it out changes nothing that could be seen.
    var isAssertion: Bool {
        let names = ["assert", "assertionFailure", "precondition", "preconditionFailure", "fatalError"]
        return names.contains(calledExpression.trimmedDescription)
    }

    /// `.reply(…)`: a value.
    fileprivate var isImplicitMember: Bool {
        calledExpression.as(MemberAccessExprSyntax.self).map { $0.base == nil } ?? false
    }

    /// `self.init(…)`: it cannot be left out.
    fileprivate var isInitialisation: Bool {
        calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "init"
    }

    /// `Session(…)` or `.reply(…)`: it makes something, and changes nothing.
    fileprivate var isMaking: Bool {
        isImplicitMember || calledExpression.trimmedDescription.first?.isUppercase ?? false
    }
}
