import Glibc

/// Zero for nothing and for one.
func decimalLogarithm(_ value: Double) -> Double {
    log10(max(value, 1))
}
