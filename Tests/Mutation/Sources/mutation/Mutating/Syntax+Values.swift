import SwiftSyntax

extension SyntaxProtocol {
    /// The bytes of the node without the surrounding trivia.
    var extent: Range<Int> {
        positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
    }

    /// The enclosing function, initialiser or accessor, or the node itself if there is none.
    var functionAround: Syntax {
        var node = Syntax(self)
        while let parent = node.parent {
            node = parent
            if node.is(FunctionDeclSyntax.self) || node.is(InitializerDeclSyntax.self)
                || node.is(AccessorBlockSyntax.self)
            {
                return node
            }
        }
        return Syntax(self)
    }
}

/// Decides whether a statement of a block is the block's value, and of which type.
extension CodeBlockItemListSyntax {
    /// Whether it is one expression that is the value of the function, closure or branch.
    var isValue: Bool {
        guard count == 1, let only = first, let expression = only.expression, let owner = parent else { return false }
        if expression.is(IfExprSyntax.self) || expression.is(SwitchExprSyntax.self) {
            guard expression.hasOnlyValues else { return false }
        }
        if owner.is(AccessorBlockSyntax.self) { return true }
        if owner.is(ClosureExprSyntax.self) { return !expression.hasOnlyStatements }
        if owner.is(SwitchCaseSyntax.self) { return owner.parent?.parent?.isValueExpression ?? false }
        guard let block = owner.as(CodeBlockSyntax.self), let holder = block.parent else { return false }
        if let function = holder.as(FunctionDeclSyntax.self) {
            let type = function.signature.returnClause?.type.trimmedDescription
            return !["Void", "()", nil].contains(type)
        }
        if let accessor = holder.as(AccessorDeclSyntax.self) {
            return accessor.accessorSpecifier.tokenKind == .keyword(.get)
        }
        return holder.is(IfExprSyntax.self) && holder.isValueExpression
    }

    /// The return type of the enclosing function, if it is written.
    var typeReturned: TypeSyntax? { Syntax(self).typeReturned }

    fileprivate var isOneValue: Bool {
        guard count == 1, let only = first else { return false }
        if case .stmt(let statement) = only.item, statement.is(ThrowStmtSyntax.self) { return true }
        return only.expression?.hasOnlyValues ?? false
    }
}

extension ExprSyntax {
    /// Whether every branch is one value. True for an expression without branches.
    fileprivate var hasOnlyValues: Bool {
        if let choice = self.as(IfExprSyntax.self) {
            guard let other = choice.elseBody, choice.body.statements.isOneValue else { return false }
            return switch other {
            case .codeBlock(let block): block.statements.isOneValue
            case .ifExpr(let next): ExprSyntax(next).hasOnlyValues
            }
        }
        guard let choice = self.as(SwitchExprSyntax.self) else { return true }
        return choice.cases.allSatisfy { $0.as(SwitchCaseSyntax.self)?.statements.isOneValue ?? false }
    }
}

extension ExprSyntax {
    /// Whether it is an `if` or a `switch` whose branches could all be statements. In a closure the syntax does not
    /// decide that.
    fileprivate var hasOnlyStatements: Bool {
        let branches: [CodeBlockItemListSyntax]
        if let choice = self.as(SwitchExprSyntax.self) {
            branches = choice.cases.compactMap { $0.as(SwitchCaseSyntax.self)?.statements }
        } else if let choice = self.as(IfExprSyntax.self), case .codeBlock(let other)? = choice.elseBody {
            branches = [choice.body.statements, other.statements]
        } else {
            return false
        }
        return branches.allSatisfy { $0.allSatisfy(\.isSimpleStatement) }
    }
}

extension Syntax {
    /// Whether this `if` or `switch` is used for its value.
    var isValueExpression: Bool {
        guard let parent else { return false }
        if parent.is(ReturnStmtSyntax.self) || parent.is(InitializerClauseSyntax.self) { return true }
        if let infix = parent.as(InfixOperatorExprSyntax.self) { return infix.operator.is(AssignmentExprSyntax.self) }
        if parent.is(IfExprSyntax.self) { return parent.isValueExpression }
        let item = parent.is(ExpressionStmtSyntax.self) ? parent.parent : parent
        return item?.parent?.as(CodeBlockItemListSyntax.self)?.isValue ?? false
    }

    /// The written return type of the function or accessor whose value this is. A closure has none.
    var typeReturned: TypeSyntax? {
        var node = self
        while let parent = node.parent {
            node = parent
            // The value of a variable or of an assignment is not the value of the function.
            if node.is(ClosureExprSyntax.self) || node.is(InitializerClauseSyntax.self) { return nil }
            if node.is(InfixOperatorExprSyntax.self) { return nil }
            if let function = node.as(FunctionDeclSyntax.self) { return function.signature.returnClause?.type }
            if let binding = node.as(PatternBindingSyntax.self) { return binding.typeAnnotation?.type }
        }
        return nil
    }
}
