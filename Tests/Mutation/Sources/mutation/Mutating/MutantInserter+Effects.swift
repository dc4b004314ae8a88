import SwiftSyntax

/// Mutants of array literals without one element, and of array sums without one operand.
extension MutantInserter {
    /// Inserts the elements of a literal that is part of an expression, such as an argument. They are removed at run
    /// time.
    func insertElements(_ node: ArrayExprSyntax) {
        let elements = node.elements.map(\.expression.trimmedDescription)
        let numbers = elements.indices.map { index in
            count(
                .dropElement,
                at: node,
                "\(elements[index]) in \(node.trimmedDescription)",
                becoming: literal(elements, without: index)
            )
        }
        let inserted = numbers.compactMap(\.self)
        guard !inserted.isEmpty else { return }
        let list = numbers.map { String($0 ?? -1) }.joined(separator: ", ")
        schema.wrap(node.extent, in: "mutantThin(", and: ", \(list))", for: inserted)
    }

    /// Inserts the mutants of an expression that may be an `if` expression. Each mutant is a branch, which the compiler
    /// checks separately.
    ///
    /// - Parameter type: the type of the expression, if the source has it.
    func insertValue(_ value: ExprSyntax, of type: TypeSyntax?) {
        let operands = value.operandsOfPlus
        let isArray = type?.is(ArrayTypeSyntax.self) ?? false
        guard isArray || operands.contains(where: { $0.is(ArrayExprSyntax.self) }) else { return }

        var branches: [(number: Int, text: String)] = []
        let texts = operands.map(\.trimmedDescription)
        for (index, operand) in operands.enumerated() {
            if operands.count > 1 {
                let others = texts.enumerated().filter { $0.offset != index }.map(\.element)
                let mutated = others.joined(separator: " + ")
                let original = "\(texts[index]) in \(value.trimmedDescription)"
                if let number = count(.dropOperand, at: operand, original, becoming: mutated) {
                    branches.append((number, mutated))
                }
            }
            guard let literal = operand.as(ArrayExprSyntax.self) else { continue }
            handledArrays.insert(literal.id)
            let elements = literal.elements.map(\.expression.trimmedDescription)
            // The only element of an operand is removed with the operand.
            guard elements.count > 1 || operands.count == 1 else { continue }
            for (position, element) in literal.elements.enumerated() {
                var mutated = texts
                mutated[index] = self.literal(elements, without: position)
                let text = mutated.joined(separator: " + ")
                let original = "\(elements[position]) in \(value.trimmedDescription)"
                if let number = count(.dropElement, at: element, original, becoming: text) {
                    branches.append((number, text))
                }
            }
        }
        guard !branches.isEmpty else { return }
        for (number, text) in branches {
            schema.wrap(value.extent, in: "if mutant(\(number)) { \(text) } else ", for: [number])
        }
        schema.wrap(value.extent, in: "{ ", and: " }", for: branches.map(\.number))
    }

    private func literal(_ elements: [String], without index: Int) -> String {
        "[" + elements.enumerated().filter { $0.offset != index }.map(\.element).joined(separator: ", ") + "]"
    }
}

extension ExprSyntax {
    /// The operands of a chain of `+` in order, or the expression itself if it is none.
    fileprivate var operandsOfPlus: [ExprSyntax] {
        guard let infix = self.as(InfixOperatorExprSyntax.self),
            infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text == "+"
        else { return [self] }
        return infix.leftOperand.operandsOfPlus + infix.rightOperand.operandsOfPlus
    }
}
