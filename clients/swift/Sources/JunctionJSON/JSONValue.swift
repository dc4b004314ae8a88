package import JunctionSecret

/// The six kinds of JSON value.
package enum JSONKind: UInt8, Sendable {
    case null
    case bool
    case number
    case string
    case array
    case object
}

/// One value of a JSON text. It keeps the whole text alive, and is as cheap to copy as a reference.
///
/// Every accessor answers `nil`, or nothing, when the value is of another kind: reading never traps.
package struct JSONValue: Sendable {
    let document: JSONDocument
    let index: Int

    /// Which of the six it is.
    package var kind: JSONKind { lend { $0.kind } }

    /// Whether it is `null`.
    package var isNull: Bool { lend { $0.isNull } }

    /// The value of a boolean.
    package var bool: Bool? { lend { $0.bool } }

    /// The text of a string, unescaped.
    package var string: String? { lend { $0.string } }

    /// The text of a string, unescaped straight into a box that is wiped; no `String` is made on the way.
    package var secret: SharedSecret? { lend { $0.secret } }

    /// The value of a number that is whole and fits; `60`, `60.0` and `6e1` are the same.
    package var integer: Int64? { lend { $0.integer } }

    /// The value of a number that is whole, not negative and fits.
    package var unsigned: UInt64? { lend { $0.unsigned } }

    /// The value of a number, rounded to the nearest `Double`; `nil` when it is too large for one.
    package var double: Double? { lend { $0.double } }

    /// Whether it is a string with exactly this text.
    package func stringEquals(_ expected: StaticString) -> Bool { lend { $0.stringEquals(expected) } }

    /// The value's text exactly as it was written, quotes and brackets included.
    package var rawText: [UInt8] { lend { Array($0.rawText) } }

    /// How long that text is.
    package var size: Int { lend { $0.rawText.count } }

    /// Lends the value's text exactly as it was written, quotes and brackets included; it must not be kept.
    package func withRawText<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try lend { (view) throws(Failure) in try body(view.rawText) }
    }

    /// Lends the value as a view that costs nothing to copy; it must not be kept.
    package func lend<Result, Failure: Error>(
        _ body: (JSONView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The document must outlive the loan, also where the optimiser sees its last use before it.
        defer { withExtendedLifetime(document) {} }
        return try body(document.view(at: index))
    }

    /// Makes a value that may be kept of a view that was lent by this one.
    package func keep(_ view: JSONView) -> JSONValue {
        precondition(view.nodes == document.view(at: 0).nodes, "A view was kept by a value of another text")
        return JSONValue(document: document, index: view.index)
    }
}
