import Glibc

/// Zero for values up to one.
func decimalLogarithm(_ value: Double) -> Double {
    log10(max(value, 1))
}
