import JunctionJSON

/// An ordered list of names with texts, such as a query or header fields.
public struct NamedTexts: Hashable, Sendable, ExpressibleByDictionaryLiteral, Sequence {
    /// One name and its text.
    public struct Element: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The text.
        public var value: String
    }

    private var elements: [Element] = []

    /// Makes an empty list.
    public init() {}

    /// Makes a list in the order of the literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.elements = elements.map(Element.init)
    }

    /// Whether the list is empty.
    public var isEmpty: Bool { elements.isEmpty }

    /// The last text with this name. Upper and lower case are equal, as in header fields.
    public subscript(_ name: String) -> String? {
        let name = name.lowercased()
        return elements.last { $0.name.lowercased() == name }?.value
    }

    /// Appends a text, even if the name already exists.
    public mutating func append(_ name: String, _ value: String) {
        elements.append(Element(name: name, value: value))
    }

    /// The names and texts, in order.
    public func makeIterator() -> IndexingIterator<[Element]> {
        elements.makeIterator()
    }

    /// Returns the list with each name once, in lower case, and the texts of one name joined (RFC 9110, section 5.3).
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
