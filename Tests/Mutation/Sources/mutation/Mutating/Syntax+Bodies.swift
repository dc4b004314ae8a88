import SwiftOperators
import SwiftParser
import SwiftSyntax

extension SyntaxProtocol {
    /// Its bytes, without what surrounds it.
    var extent: Range<Int> {
        positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
    }

    /// The statements of the outermost function, initializer or accessor around it.
    var body: Mutant.Body? {
        var body: Mutant.Body?
        var node: Syntax? = Syntax(self)
        while let here = node {
            if let list = here.as(CodeBlockItemListSyntax.self), let hasResult = list.hasResult {
                body = Mutant.Body(extent: list.extent, hasResult: hasResult)
            }
            node = here.parent
        }
        return body
    }
}

extension CodeBlockItemListSyntax {
    /// Whether the function or accessor with these statements has a result; `nil` if they are not all of one.
    fileprivate var hasResult: Bool? {
        if parent?.is(AccessorBlockSyntax.self) ?? false { return true }
        guard let owner = parent?.as(CodeBlockSyntax.self)?.parent else { return nil }
        if let function = owner.as(FunctionDeclSyntax.self) { return !(function.signature.returnClause?.type).isVoid }
        if let accessor = owner.as(AccessorDeclSyntax.self) {
            return accessor.accessorSpecifier.tokenKind == .keyword(.get)
        }
        return owner.is(InitializerDeclSyntax.self) ? false : nil
    }
}

/// Writes the `return` that Swift lets one leave out: one copy of a body then follows the other. The lines stay.
final class ReturnWriter: SyntaxRewriter {
    /// A file as the mutants of it are found.
    static func tree(of source: String) -> Syntax {
        // An operator that is not the standard library's stays as it was parsed, and is not mutated.
        let folded = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
        return ReturnWriter().rewrite(folded)
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        guard node.hasResult == true, node.count == 1, let value = node.first?.expression, !Syntax(value).returns else {
            return super.visit(node)
        }
        let keyword = TokenSyntax.keyword(.return, leadingTrivia: value.leadingTrivia, trailingTrivia: .space)
        let statement = ReturnStmtSyntax(returnKeyword: keyword, expression: value.with(\.leadingTrivia, []))
        return [CodeBlockItemSyntax(item: .stmt(StmtSyntax(statement)))]
    }
}

extension Syntax {
    /// Whether it is an `if` or a `switch` whose branches return from the function.
    fileprivate var returns: Bool {
        if self.is(ReturnStmtSyntax.self) { return true }
        if self.is(ClosureExprSyntax.self) || self.is(FunctionDeclSyntax.self) { return false }
        return children(viewMode: .sourceAccurate).contains(where: \.returns)
    }
}
