import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Visits one file and inserts its mutants. The operators are in the extensions.
final class MutantInserter: SyntaxVisitor {
    let file: String
    /// The numbers of mutants that do not compile. They are counted and not inserted.
    private let unviable: Set<Int>
    private let locations: SourceLocationConverter
    private var next: Int
    /// The array literals that are mutated with their enclosing expression.
    var handledArrays: Set<SyntaxIdentifier> = []

    private(set) var mutants: [Mutant] = []
    var schema = Schema()

    /// Creates an inserter for one file.
    ///
    /// - Parameter first: the number of the file's first mutant.
    init(file: String, source: String, first: Int, without unviable: Set<Int>) {
        self.file = file
        self.unviable = unviable
        next = first
        let parsed = Parser.parse(source: source)
        // An operator outside the standard library stays as it was parsed, and is not mutated.
        let folded = OperatorTable.standardOperators.foldAll(parsed) { _ in }
        locations = SourceLocationConverter(fileName: file, tree: folded)
        super.init(viewMode: .sourceAccurate)
        walk(folded)
    }

    /// Counts a mutant. Returns its number if it is to be inserted.
    func count(
        _ kind: Mutant.Kind,
        at node: some SyntaxProtocol,
        _ original: String,
        becoming mutated: String
    ) -> Int? {
        let number = next
        next += 1
        mutants.append(
            Mutant(
                number: number,
                file: file,
                line: locations.location(for: node.positionAfterSkippingLeadingTrivia).line,
                kind: kind,
                original: original.inOneLine,
                mutated: mutated.inOneLine,
                extent: node.extent,
                function: node.functionAround.extent
            )
        )
        return unviable.contains(number) ? nil : number
    }

    /// Inserts a mutant around a node as a call of the runtime: `NAME(node, number)`.
    func insert(
        _ kind: Mutant.Kind,
        at node: some SyntaxProtocol,
        as function: String,
        becoming mutated: String
    ) {
        guard let number = count(kind, at: node, node.trimmedDescription, becoming: mutated) else { return }
        schema.wrap(node.extent, in: "\(function)(", and: ", \(number))", for: [number])
    }

    // MARK: Code without mutants

    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: Code with mutants

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        insertOperator(node)
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" {
            insert(.dropNegation, at: node, as: "mutantFlip", becoming: node.expression.trimmedDescription)
        }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        insert(.flipLiteral, at: node, as: "mutantFlip", becoming: node.literal.text == "true" ? "false" : "true")
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
        insertConditions(node.conditions)
        insertBranches(node)
        return .visitChildren
    }

    override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind {
        insertConditions(node.conditions)
        return .visitChildren
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        insertGuard(node)
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard !node.isAssertion else { return .skipChildren }
        insertMinMax(node)
        return .visitChildren
    }

    override func visit(_ node: ArrayExprSyntax) -> SyntaxVisitorContinueKind {
        if !handledArrays.contains(node.id) { insertElements(node) }
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        if let body = node.body {
            insertEmptyFunction(body.statements, returning: node.signature.returnClause?.type, named: node.name.text)
        }
        return .visitChildren
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        guard let type = node.typeAnnotation?.type else { return .visitChildren }
        let name = node.pattern.trimmedDescription
        switch node.accessorBlock?.accessors {
        case .getter(let statements):
            insertEmptyFunction(statements, returning: type, named: name)
        case .accessors(let accessors):
            for accessor in accessors where accessor.accessorSpecifier.tokenKind == .keyword(.get) {
                if let body = accessor.body { insertEmptyFunction(body.statements, returning: type, named: name) }
            }
        case nil:
            break
        }
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
        if node.isValue, let value = node.first?.expression {
            insertValue(value, of: node.typeReturned)
        } else {
            insertStatements(Array(node))
        }
        return .visitChildren
    }

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if let value = node.expression { insertValue(value, of: Syntax(node).typeReturned) }
        return .visitChildren
    }

    override func visit(_ node: InitializerClauseSyntax) -> SyntaxVisitorContinueKind {
        if let binding = node.parent?.as(PatternBindingSyntax.self) {
            insertValue(node.value, of: binding.typeAnnotation?.type)
        }
        return .visitChildren
    }
}
