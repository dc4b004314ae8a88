/// Times and durations of a simulation in milliseconds, on the true clock, which no daemon sees.
package typealias Milliseconds = Int64
