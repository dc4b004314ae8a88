package import JunctionSecret

/// The six kinds of JSON values.
package enum JSONKind: UInt8, Sendable {
    case null
    case bool
    case number
    case string
    case array
    case object
}

/// One value of a JSON text. It keeps the whole text alive. A copy costs as much as a copy of a reference.
///
/// Every accessor returns `nil`, or an empty sequence, if the value is of another kind. Reading never traps.
package struct JSONValue: Sendable {
    let document: JSONDocument
    let index: Int

    package var kind: JSONKind { withView { $0.kind } }

    package var isNull: Bool { withView { $0.isNull } }

    /// The value of a boolean.
    package var bool: Bool? { withView { $0.bool } }

    /// The unescaped text of a string.
    package var string: String? { withView { $0.string } }

    /// The unescaped text of a string, written directly to memory that is wiped, without a `String`.
    package var secret: SharedSecret? { withView { $0.secret } }

    /// The value of a whole number that fits. `60`, `60.0` and `6e1` are equal.
    package var integer: Int64? { withView { $0.integer } }

    /// The value of a whole number that is not negative and fits.
    package var unsigned: UInt64? { withView { $0.unsigned } }

    /// The value of a number, rounded to the nearest `Double`; `nil` if it is too large.
    package var double: Double? { withView { $0.double } }

    /// Returns whether the value is a string with exactly this text.
    package func stringEquals(_ expected: StaticString) -> Bool { withView { $0.stringEquals(expected) } }

    /// The value's original text, with quotes and brackets.
    package var rawText: [UInt8] { withView { Array($0.rawText) } }

    /// The length of the original text, in bytes.
    package var size: Int { withView { $0.rawText.count } }

    /// Passes the value's original text, with quotes and brackets, to `body`, which must not keep it.
    package func withRawText(_ body: (UnsafeRawBufferPointer) -> Void) { withView { body($0.rawText) } }

    /// Passes the value to `body` as a view, which is free to copy and must not be kept.
    package func withView<Result, Failure: Error>(
        _ body: (JSONView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Without this, the optimiser could release the document after its last visible use, before `body` ends.
        defer { withExtendedLifetime(document) {} }
        return try body(document.view(at: index))
    }

    /// Makes a value that may be kept from a view that this value has lent.
    package func keep(_ view: JSONView) -> JSONValue {
        precondition(view.nodes == document.view(at: 0).nodes, "A view was kept by a value of another text")
        return JSONValue(document: document, index: view.index)
    }
}
