"""Coefficients of the polynomials in `runtime/src/math`, by Chebyshev interpolation in mpmath.

    python3 coefficients.py

prints them, lowest power first, with the largest relative error found on a fine grid. Needs mpmath.
"""

from mpmath import mp, mpf, erfinv, digamma, findroot, log, sqrt, cbrt, exp, cos, pi, chop, polyval

mp.dps = 60


def interpolate(f, low, high, degree):
    """Coefficients in t = x - middle of the polynomial through f at the Chebyshev points."""
    low, high = mpf(low), mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    n = degree + 1
    nodes = [cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [f(middle + half * u) for u in nodes]
    cheb = [2 / mpf(n) * sum(v * cos(j * pi * (2 * k + 1) / (2 * n)) for k, v in enumerate(values))
            for j in range(n)]
    cheb[0] /= 2
    # From Chebyshev polynomials to powers of u, then of t = half * u.
    powers = [mpf(0)] * n
    before, now = [mpf(1)], [mpf(0), mpf(1)]
    for j, c in enumerate(cheb):
        basis = before if j == 0 else now
        for k, b in enumerate(basis):
            powers[k] += c * b
        if j >= 1:
            following = [mpf(0)] + [2 * b for b in now]
            for k, b in enumerate(before):
                following[k] -= b
            before, now = now, following
    return [p / half**k for k, p in enumerate(powers)], middle


def show(name, f, low, high, degree):
    coefficients, middle = interpolate(f, low, high, degree)
    floats = [mpf(float(c)) for c in coefficients]
    worst = mpf(0)
    for k in range(401):
        x = mpf(low) + (mpf(high) - mpf(low)) * k / 400
        y = f(x)
        worst = max(worst, abs(polyval(floats[::-1], x - middle) / y - 1))
    print(f"{name}: t = x - {float(middle)!r} on {low} .. {high}, relative error {float(worst):.2e}")
    for c in coefficients:
        print(f"    {float(c)!r},")


root = findroot(digamma, mpf("1.4616321449683623412626595423257213284681962040064463512959884"))
high = mpf(float(root))
print(f"root of digamma: {float(high)!r} + {float(root - high)!r}")


def quotient(x):
    """digamma without its root and its first two poles."""
    if abs(x - root) < mpf(10) ** -30:
        x += mpf(10) ** -25
    return digamma(x) / (x - root) * x * (x + 1)


def middle_of_erfinv(w):
    """erfinv(x) / x as a function of w = -log(1 - x^2)."""
    if w == 0:
        return sqrt(pi) / 2
    x = sqrt(1 - exp(-w))
    return erfinv(x) / x


def tail_of_erfinv(s):
    """The same as a function of s = sqrt(w)."""
    mp.dps = 80
    x = sqrt(1 - exp(-s * s))
    y = erfinv(x) / x
    mp.dps = 60
    return y


def beyond_linear(r):
    """(e^r - 1 - r) / r^2."""
    return (exp(r) - 1 - r) / r**2 if abs(r) > mpf(10) ** -20 else mpf(1) / 2 + r / 6


show("(e^r - 1 - r) / r^2", beyond_linear, "-0.3466", "0.3466", 10)
show("digamma", quotient, 1, 2, 15)
show("erfinv, middle", middle_of_erfinv, 0, 5, 8)
show("erfinv, tail", tail_of_erfinv, "2.2", "6.1", 14)
show("cbrt(1 + x)", lambda x: cbrt(1 + x), "-0.2929", "0.41422", 4)
