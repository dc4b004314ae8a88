/// Times of a simulation, and spans of it, in milliseconds: one true time for all, which no daemon ever sees.
package typealias Milliseconds = Int64
