import JunctionJSON

/// Names with a text each, in order: a query, or header fields.
public struct NamedTexts: Hashable, Sendable, ExpressibleByDictionaryLiteral, Sequence {
    /// One name and its text.
    public struct Element: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The text.
        public var value: String
    }

    private var elements: [Element] = []

    /// Starts without any.
    public init() {}

    /// Takes names and texts in the order written.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.elements = elements.map(Element.init)
    }

    /// Whether there are none.
    public var isEmpty: Bool { elements.isEmpty }

    /// The last text with this name; upper and lower case are the same, as they are in header fields.
    public subscript(_ name: String) -> String? {
        let name = name.lowercased()
        return elements.last { $0.name.lowercased() == name }?.value
    }

    /// Adds one more, also when the name is there already.
    public mutating func append(_ name: String, _ value: String) {
        elements.append(Element(name: name, value: value))
    }

    /// The names and texts, in order.
    public func makeIterator() -> IndexingIterator<[Element]> {
        elements.makeIterator()
    }

    /// The same with every name once, in lower case, and the texts of one name joined as RFC 9110 §5.3 does it.
    func joinedByName() -> NamedTexts {
        var joined = NamedTexts()
        for element in elements {
            let name = element.name.lowercased()
            if let index = joined.elements.firstIndex(where: { $0.name == name }) {
                joined.elements[index].value += ", " + element.value
            } else {
                joined.append(name, element.value)
            }
        }
        return joined
    }
}

extension JSONWriter {
    /// Writes a member that is an object of strings.
    mutating func member(_ name: StaticString, _ texts: NamedTexts) {
        object(name) { writer in
            for element in texts {
                writer.key(element.name)
                writer.string(element.value)
            }
        }
    }
}
