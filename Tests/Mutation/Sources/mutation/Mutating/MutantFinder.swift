import SwiftSyntax

/// Goes through one file and finds every mutant of it. The operators are in the extensions.
final class MutantFinder: SyntaxVisitor {
    private let file: String
    private let locations: SourceLocationConverter
    private let first: Int
    private(set) var mutants: [Mutant] = []

    /// - Parameter first: the number of the file's first mutant.
    init(file: String, tree: Syntax, first: Int) {
        self.file = file
        self.first = first
        locations = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    /// Adds a mutant that replaces a node.
    ///
    /// - Parameters:
    ///   - mutated: what the report shows in the place of the original.
    ///   - original: what the report shows as the original, where it is not the node.
    ///   - extent: what is replaced, where it is not the node alone.
    ///   - text: what is compiled, where it is not `mutated`.
    func add(
        _ kind: Mutant.Kind,
        _ node: some SyntaxProtocol,
        becoming mutated: String,
        original: String? = nil,
        extent: Range<Int>? = nil,
        text: String? = nil
    ) {
        let body = node.body
        // Outside of functions only what always compiles is mutated.
        guard body != nil || kind == .flipLiteral else { return }
        mutants.append(
            Mutant(
                number: first + mutants.count,
                file: file,
                line: locations.location(for: node.positionAfterSkippingLeadingTrivia).line,
                kind: kind,
                original: (original ?? node.trimmedDescription).inOneLine,
                mutated: mutated.inOneLine,
                extent: extent ?? node.extent,
                text: text ?? mutated,
                body: body
            )
        )
    }

    // MARK: Where nothing is mutated

    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: Where something may be

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        addOperators(node)
        addOperands(node)
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" {
            add(.dropNegation, node, becoming: node.expression.trimmedDescription)
        }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add(.flipLiteral, node, becoming: node.literal.text == "true" ? "false" : "true")
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        negate(node.condition)
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        negate(node.condition)
        return .visitChildren
    }

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        addConditions(node.conditions)
        addBranches(node)
        return .visitChildren
    }

    override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind {
        addConditions(node.conditions)
        return .visitChildren
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        addGuard(node)
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard !node.isAssertion else { return .skipChildren }
        addMinMax(node)
        return .visitChildren
    }

    override func visit(_ node: ArrayExprSyntax) -> SyntaxVisitorContinueKind {
        addElements(node)
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        if let body = node.body {
            addEmptyFunction(body.statements, returning: node.signature.returnClause?.type, named: node.name.text)
        }
        return .visitChildren
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        guard let type = node.typeAnnotation?.type else { return .visitChildren }
        let name = node.pattern.trimmedDescription
        switch node.accessorBlock?.accessors {
        case .getter(let statements):
            addEmptyFunction(statements, returning: type, named: name)
        case .accessors(let accessors):
            for accessor in accessors where accessor.accessorSpecifier.tokenKind == .keyword(.get) {
                if let body = accessor.body { addEmptyFunction(body.statements, returning: type, named: name) }
            }
        case nil:
            break
        }
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
        // A closure of one statement may return it.
        let isValue = node.count == 1 && node.parent?.is(ClosureExprSyntax.self) ?? false
        if !isValue { addStatements(Array(node)) }
        return .visitChildren
    }
}
