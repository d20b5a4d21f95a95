"""Reference values of all primitives and of their partial derivatives, by mpmath.

    python3 make.py > values.txt
    python3 make.py 50 > /tmp/dense.txt    # 50 times as many points
    python3 make.py 1 second > second.txt  # second derivatives

`values.txt` was made with mpmath 1.3.0 in 80 digits; it is read by `accuracy.rs`, which can be given
another file (`JUT_REFERENCE=/tmp/dense.txt cargo test -p jut-ir accuracy::`).

Each line is: identifier of the row, operands, `=`, value, one partial derivative per float operand.
Operands are exact: floats as the 16 hexadecimal digits of their bits. Results are decimals of 35
digits, a zero with a sign must have that sign; `-` is a derivative that does not exist (kinks and
poles have tests of their own). A line of `second.txt`, which `second.rs` reads, is: identifier of a row
with one operand, operand, `=`, second derivative.

The functions below are written from the mathematical definitions, not from the formulas of the
table. Points are ordinary arguments, arguments spread over all magnitudes where the function is
defined, and edges: thresholds, neighbours of zeros and poles, the ends of the range, infinities, NaN.
"""

import math
import random
import struct
import sys
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 80
DENSITY = int(sys.argv[1]) if len(sys.argv) > 1 else 1
INF, NAN = math.inf, math.nan
TINY, SMALLEST, HUGE = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308
E63 = 1 << 63
# Far outside of the floats, on either side: written as infinity and zero.
BEYOND = mpf(10) ** 400
# Both ends of the floats, and where whole numbers and halves run out.
EXTREMES = [TINY, 2.0**-1060, 1e-310, SMALLEST, 1e-290, 2.0**-53, 4503599627370497.5, 1e17, 1e290, 1e308, HUGE]


def next_up(x, n=1):
    for _ in range(n):
        x = math.nextafter(x, INF)
    return x


def next_down(x, n=1):
    return -next_up(-x, n)


def near(*points):
    """Points with their neighbours."""
    return [y for x in points for y in (next_down(x, 3), next_down(x), x, next_up(x), next_up(x, 5))]


class Points:
    """Random points, the same in every run."""

    def __init__(self, name):
        self.random = random.Random(name)

    def uniform(self, low, high, n=24):
        return [self.random.uniform(low, high) for _ in range(n * DENSITY)]

    def spread(self, low, high, n=16):
        """Over the magnitudes between two powers of ten."""
        return [10.0 ** self.random.uniform(low, high) for _ in range(n * DENSITY)]

    def both(self, low, high, n=16):
        return [x * self.random.choice((-1, 1)) for x in self.spread(low, high, n)]

    def integers(self, n=10):
        r = self.random
        some = [r.getrandbits(r.randrange(1, 64)) * r.choice((-1, 1)) for _ in range(n * DENSITY)]
        return some + [0, 1, -1, 2, -2, 63, 64, -64, E63 - 1, -E63, 1 - E63]

    def pairs(self, first, second):
        """Each point of the first list with one of the second, and the other way round."""
        r = self.random
        return [(a, r.choice(second)) for a in first] + [(r.choice(first), b) for b in second]


def wrap(n):
    return (n + E63) % (1 << 64) - E63


def text(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, int):
        return str(x)
    if x is None:
        return "-"
    if isinstance(x, float) and x == 0:
        return "-0.0" if math.copysign(1, x) < 0 else "+0.0"
    x = mpf(x)
    if mp.isnan(x):
        return "nan"
    if not mp.isfinite(x) or abs(x) > BEYOND:
        return "inf" if x > 0 else "-inf"
    if x != 0 and abs(x) < 1 / BEYOND:
        return "+0.0" if x > 0 else "-0.0"
    # More digits where 35 do not say to which float to round: sums and products may lie just between.
    decimals = (mp.nstr(x, digits) for digits in (35, 60, 80))
    return next((d for d in decimals if float(d) == float(x)), mp.nstr(x, 80))


def operand(x):
    return struct.pack(">d", x).hex() if isinstance(x, float) else text(x)


LINES = []


def line(name, args, value, partials):
    LINES.append(" ".join([name, *map(operand, args), "=", text(value), *map(text, partials)]))


def function(name, f, points, *derivatives, edges=()):
    """f and its partial derivatives at the points, and edges as (operands, value)."""
    seen = set()
    for args in points:
        args = args if isinstance(args, tuple) else (args,)
        if args in seen:
            continue
        seen.add(args)
        exact = [mpf(a) if isinstance(a, float) else a for a in args]
        line(name, args, f(*exact), [d(*exact) for d in derivatives])
    for args, value in edges:
        args = args if isinstance(args, tuple) else (args,)
        line(name, args, value, [None] * len(derivatives))


def extremes(name, f, *derivatives, points=None):
    """f at both ends of the floats, wherever it is defined there."""
    points = points or [s * x for x in EXTREMES for s in (1, -1)]
    for args in points:
        args = args if isinstance(args, tuple) else (args,)
        exact = [mpf(a) for a in args]
        try:
            results = [g(*exact) for g in (f, *derivatives)]
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if all(isinstance(x, mpf) and mp.isfinite(x) for x in results):
            line(name, args, results[0], results[1:])


def same(*points):
    """Edges where the value is the operand."""
    return [(x, x) for x in points]


ODD = same(0.0, -0.0, INF, -INF, NAN)


def zero(*_):
    return mpf(0)


def ends():
    """The unary functions that are defined far out, and pairs of extremes for the binary ones."""
    root_pi = 2 / mp.sqrt(mp.pi)
    one = lambda x: mpf(1)
    logistic = lambda x: 1 / (1 + exp(-x))
    real = lambda g, ok: (lambda x: g(x) if ok(x) else None)
    positive, inside, above = lambda x: x > 0, lambda x: abs(x) < 1, lambda x: x > 1

    def exp(x):
        """Without numbers whose exponents have hundreds of digits."""
        return mp.exp(max(min(x, mpf(10) ** 4), -mpf(10) ** 4))

    bell = lambda x: root_pi * exp(-x * x)
    part = lambda x, y: x / mp.hypot(x, y)
    unary = [
        ("abs", abs, mp.sign),
        ("sqrt", real(mp.sqrt, positive), real(lambda x: 1 / (2 * mp.sqrt(x)), positive)),
        ("cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), lambda x: 1 / (3 * mp.cbrt(abs(x)) ** 2)),
        ("exp", exp, exp),
        ("exp2", lambda x: exp(x * mp.log(2)), lambda x: exp(x * mp.log(2)) * mp.log(2)),
        ("expm1", lambda x: mp.expm1(x) if abs(x) < 1 else exp(x) - 1, exp),
        ("log", real(mp.log, positive), lambda x: 1 / x),
        ("log2", real(lambda x: mp.log(x) / mp.log(2), positive), lambda x: 1 / (x * mp.log(2))),
        ("log10", real(lambda x: mp.log(x) / mp.log(10), positive), lambda x: 1 / (x * mp.log(10))),
        ("log1p", real(mp.log1p, lambda x: x > -1), lambda x: 1 / (1 + x)),
        ("asin", real(mp.asin, inside), real(lambda x: 1 / mp.sqrt(1 - x * x), inside)),
        ("acos", real(mp.acos, inside), real(lambda x: -1 / mp.sqrt(1 - x * x), inside)),
        ("atan", mp.atan, lambda x: 1 / (1 + x * x)),
        ("sinh", lambda x: mp.sinh(x) if abs(x) < 1 else (exp(x) - exp(-x)) / 2, lambda x: (exp(x) + exp(-x)) / 2),
        ("cosh", lambda x: (exp(x) + exp(-x)) / 2, lambda x: mp.sinh(x) if abs(x) < 1 else (exp(x) - exp(-x)) / 2),
        ("tanh", mp.tanh, lambda x: 4 / (exp(x) + exp(-x)) ** 2),
        ("asinh", lambda x: mp.sign(x) * mp.asinh(abs(x)), lambda x: 1 / mp.sqrt(1 + x * x)),
        ("acosh", real(mp.acosh, above), real(lambda x: 1 / mp.sqrt(x * x - 1), above)),
        ("atanh", real(mp.atanh, inside), real(lambda x: 1 / (1 - x * x), inside)),
        ("erf", mp.erf, bell),
        ("erfc", lambda x: mp.erfc(x) if abs(x) < 100 else mpf(0 if x > 0 else 2), lambda x: -bell(x)),
        ("erfinv", real(erfinv, inside), real(lambda x: 1 / bell(erfinv(x)), inside)),
        ("sigmoid", logistic, lambda x: logistic(x) * logistic(-x)),
        ("softplus", lambda x: max(x, 0) + mp.log1p(exp(-abs(x))), logistic),
        ("relu", lambda x: max(x, mpf(0)), lambda x: mpf(1 if x > 0 else 0)),
        ("gamma", real(mp.gamma, lambda x: abs(x) < 1), real(lambda x: mp.gamma(x) * mp.digamma(x), lambda x: abs(x) < 1)),
        ("lgamma", real(lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 1 else mp.loggamma(x), lambda x: x > -1),
         real(mp.digamma, lambda x: x > -1)),
        ("digamma", real(mp.digamma, lambda x: x > -1), real(lambda x: mp.polygamma(1, x), lambda x: x > -1)),
    ]
    for name, f, slope in unary:
        extremes(name + "_f64", f, slope)
    sizes = [TINY, 1e-310, SMALLEST, 1e-160, 1.0, 1e160, 1e300, 8e307]
    pairs = [(s * x, y) for x in sizes for y in sizes for s in (1, -1)]
    extremes("hypot_f64", mp.hypot, part, lambda x, y: part(y, x), points=pairs)
    extremes("atan2_f64", mp.atan2, lambda x, y: y / (x * x + y * y), lambda x, y: -x / (x * x + y * y), points=pairs)
    wide = [-8e307, -1e300, -1e5, -750.0, -40.0, -1e-300, TINY, 1.0, 40.0, 750.0, 1e300, 8e307]
    softplus = lambda x: mp.log1p(exp(-abs(x)))
    extremes("logaddexp_f64", lambda x, y: max(x, y) + softplus(x - y), lambda x, y: logistic(x - y),
             lambda x, y: logistic(y - x), points=[(x, y) for x in wide for y in wide])
    powers = [1e-300, 1e-20, -1e-20, 0.5, -0.5, 1.0, 1.5, -1.0, 2.0]
    extremes("pow_f64", mp.power, lambda x, y: y * mp.power(x, y - 1), lambda x, y: mp.power(x, y) * mp.log(x),
             points=[(x, y) for x in [TINY, 1e-310, SMALLEST, 1e-300, 1e300, HUGE] for y in powers])


def main():
    arithmetic()
    elementary()
    circular()
    hyperbolic()
    special()
    steps()
    remainders()
    others()
    ends()
    print("\n".join(LINES))


def second():
    """Second derivatives of functions of one operand: where they are small, where they are large, and
    where sums for them might cancel."""
    p = Points("second")
    size = p.both(-150, -1, 24)
    root_pi = 2 / mp.sqrt(mp.pi)
    logistic = lambda x: 1 / (1 + mp.exp(-x))
    bend = lambda x: -mp.tanh(x / 2) * mp.sech(x / 2) ** 2 / 4
    inside = size + p.uniform(-1, 1, 40) + [s * (1 - x) for s in (1, -1) for x in p.spread(-14, -1)] + near(0.5, -0.5)
    real = size + p.uniform(-3, 3, 40) + p.uniform(-30, 30, 40)
    positive = p.spread(-60, 60) + p.uniform(0.1, 4, 24)
    steep = [x for x in real if abs(x) < 26]
    turned = lambda x: x / mp.sqrt(((1 - x) * (1 + x)) ** 3)
    for name, f, points in [
        ("tanh", lambda x: -2 * mp.tanh(x) * mp.sech(x) ** 2, real + p.uniform(-300, 300)),
        ("sigmoid", bend, real + p.uniform(-600, 600)),
        ("softplus", lambda x: logistic(x) * logistic(-x), real + p.uniform(-600, 600)),
        ("erf", lambda x: -2 * x * root_pi * mp.exp(-x * x), steep),
        ("erfc", lambda x: 2 * x * root_pi * mp.exp(-x * x), steep),
        ("asin", turned, inside),
        ("acos", lambda x: -turned(x), inside),
        ("atanh", lambda x: 2 * x / ((1 - x) * (1 + x)) ** 2, inside),
        ("acosh", lambda x: -x / mp.sqrt(((x - 1) * (x + 1)) ** 3), [1 + x for x in p.spread(-14, 2, 40)]),
        ("asinh", lambda x: -x / mp.sqrt((1 + x * x) ** 3), real + p.spread(1, 60)),
        ("atan", lambda x: -2 * x / (1 + x * x) ** 2, real + p.spread(1, 60)),
        ("log1p", lambda x: -1 / (1 + x) ** 2, size + p.spread(-3, 60) + [x - 1 for x in p.spread(-14, -1)]),
        ("expm1", mp.exp, real),
        ("exp", mp.exp, real),
        ("log", lambda x: -1 / x**2, positive),
        ("sqrt", lambda x: -1 / (4 * mp.sqrt(x) ** 3), positive),
        ("cbrt", lambda x: -2 / (9 * mp.cbrt(x) ** 5), positive),
        ("sinh", mp.sinh, real),
        ("cosh", mp.cosh, real),
        ("sin", lambda x: -mp.sin(x), real),
        ("cos", lambda x: -mp.cos(x), real),
        ("tan", lambda x: 2 * mp.tan(x) * mp.sec(x) ** 2, real),
    ]:
        for x in points:
            line(name + "_f64", (x,), f(mpf(x)), [])
    print("\n".join(LINES))


def arithmetic():
    p = Points("arithmetic")
    wide = p.uniform(-3, 3, 8) + p.both(-150, 150, 8) + [TINY, -SMALLEST, HUGE, 0.1]
    pairs = p.pairs(wide, wide)
    one = lambda x, y: mpf(1)
    function("add_f64", lambda x, y: x + y, pairs, one, one, edges=[((INF, -INF), NAN)])
    function("sub_f64", lambda x, y: x - y, pairs, one, lambda x, y: mpf(-1), edges=[((INF, INF), NAN)])
    function("mul_f64", lambda x, y: x * y, pairs, lambda x, y: y, lambda x, y: x, edges=[((INF, 0.0), NAN)])
    function("times_f64", lambda x, y: x * y, pairs, lambda x, y: y, lambda x, y: x,
             edges=[((INF, 0.0), 0.0), ((-0.0, NAN), 0.0), ((INF, -1.0), -INF), ((NAN, 1.0), NAN), ((-0.0, 2.0), -0.0)])
    function("div_f64", lambda x, y: x / y, pairs, lambda x, y: 1 / y, lambda x, y: -x / y**2,
             edges=[((0.0, 0.0), NAN), ((1.0, 0.0), INF), ((1.0, -0.0), -INF)])
    function("neg_f64", lambda x: -x, wide, lambda x: mpf(-1), edges=[(INF, -INF)])
    function("abs_f64", abs, wide, lambda x: mp.sign(x), edges=[(-INF, INF), (NAN, NAN)])
    differ = [(x, y) for x, y in pairs if x != y]
    pick = lambda c: (lambda x, y: mpf(1 if c(x, y) else 0))
    less, more = (lambda x, y: x < y), (lambda x, y: x > y)
    spreads = [((NAN, 1.0), NAN), ((1.0, NAN), NAN)]
    function("min_f64", min, differ, pick(less), pick(more), edges=[((-INF, 1.0), -INF)] + spreads)
    function("max_f64", max, differ, pick(more), pick(less), edges=[((INF, 1.0), INF)] + spreads)
    for name, f in [("eq", lambda x, y: x == y), ("ne", lambda x, y: x != y), ("lt", less), ("gt", more),
                    ("le", lambda x, y: x <= y), ("ge", lambda x, y: x >= y)]:
        function(name + "_f64", f, pairs + [(0.0, -0.0)], edges=[((NAN, NAN), name == "ne")])

    ints = p.pairs(p.integers(), p.integers())
    towards_zero = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    divisible = [(a, b) for a, b in ints if b != 0]
    for name, f in [("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b),
                    ("min", min), ("max", max), ("bitand", lambda a, b: a & b), ("bitor", lambda a, b: a | b),
                    ("bitxor", lambda a, b: a ^ b)]:
        function(name + "_i64", lambda a, b: wrap(f(a, b)), ints)
    function("div_i64", lambda a, b: wrap(towards_zero(a, b)), divisible)
    function("rem_i64", lambda a, b: a - b * towards_zero(a, b), divisible)
    for name, f in [("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b), ("lt", less), ("gt", more),
                    ("le", lambda a, b: a <= b), ("ge", lambda a, b: a >= b)]:
        function(name + "_i64", f, ints)
    shifts = [(a, n) for a, _ in ints for n in (0, 1, 13, 62, 63, 64, 65, -1, E63 - 1, -E63)][:200]
    many = lambda n: n if 0 <= n < 64 else 64
    function("shl_i64", lambda a, n: wrap(a << many(n)), shifts)
    function("shr_i64", lambda a, n: a >> many(n), shifts)
    for name, f in [("neg", lambda a: -a), ("abs", abs), ("bitnot", lambda a: ~a),
                    ("sign", lambda a: (a > 0) - (a < 0))]:
        function(name + "_i64", lambda a: wrap(f(a)), p.integers())


def elementary():
    p = Points("elementary")
    positive = p.uniform(0.01, 4) + p.spread(-307, 308) + near(1.0) + [TINY, SMALLEST, HUGE]
    below = [(-1.0, NAN), (-INF, NAN), (NAN, NAN), (INF, INF)]
    function("sqrt_f64", mp.sqrt, positive, lambda x: 1 / (2 * mp.sqrt(x)), edges=below + same(0.0, -0.0))
    function("cbrt_f64", lambda x: mp.sign(x) * mp.cbrt(abs(x)), positive + [-x for x in positive],
             lambda x: 1 / (3 * mp.cbrt(abs(x)) ** 2), edges=ODD)
    ends = [(INF, INF), (NAN, NAN)]
    exponents = p.uniform(-3, 3) + p.uniform(-745, 709) + p.both(-20, 0) + near(-708.4, 0.5)
    function("exp_f64", mp.exp, exponents + [709.78, 709.79, -745.1, -745.2, 800.0, -800.0], mp.exp,
             edges=ends + [(-INF, 0.0), (0.0, 1.0)])
    two = [x * 1.44 for x in exponents] + [float(n) for n in range(-1075, 1025, 97)]
    function("exp2_f64", lambda x: mp.power(2, x), two, lambda x: mp.power(2, x) * mp.log(2),
             edges=ends + [(-INF, 0.0), (0.0, 1.0)])
    function("expm1_f64", mp.expm1, exponents + p.both(-300, -10), mp.exp, edges=ends + [(-INF, -1.0)] + same(-0.0))
    for name, f, scale in [("log", mp.log, 1), ("log2", lambda x: mp.log(x) / mp.log(2), mp.log(2)),
                           ("log10", mp.log10, mp.log(10))]:
        powers = [float(2**n) for n in range(0, 60, 7)] + [float(10**n) for n in range(0, 22, 3)]
        close = [1 + x for x in p.both(-15, -1)]
        function(name + "_f64", f, positive + powers + close, lambda x: 1 / (x * scale), edges=below + [(0.0, -INF)])
    shifted = p.uniform(-0.99, 3) + p.both(-300, -1) + p.spread(0, 308) + near(-0.29, 0.41) + [next_up(-1.0), HUGE]
    function("log1p_f64", mp.log1p, shifted, lambda x: 1 / (1 + x), edges=[(-1.0, -INF), (-2.0, NAN)] + ends + same(-0.0))
    sides = p.uniform(-3, 3) + p.both(-307, 307.5, 24)
    function("hypot_f64", mp.hypot, p.pairs(sides, sides) + [(3.0, 4.0), (1e-300, 1e300)],
             lambda x, y: x / mp.hypot(x, y), lambda x, y: y / mp.hypot(x, y),
             edges=[((INF, NAN), INF), ((NAN, -INF), INF), ((NAN, 1.0), NAN), ((0.0, 0.0), 0.0)])
    bases = p.uniform(0.01, 5, 40) + p.spread(-300, 300)
    powers = [(x, y) for x, y in p.pairs(bases, p.uniform(-4, 4, 40) + p.both(-10, 2)) if abs(y * math.log(x)) < 700]
    powers += [(1 + e, y) for e, y in zip(p.both(-10, -2), p.both(0, 3))]
    function("pow_f64", mp.power, powers, lambda x, y: y * mp.power(x, y - 1), lambda x, y: mp.power(x, y) * mp.log(x),
             edges=[((NAN, 0.0), 1.0), ((1.0, NAN), 1.0), ((-2.0, 3.0), -8.0), ((-2.0, 0.5), NAN), ((0.0, -1.0), INF),
                    ((-0.0, -1.0), -INF), ((INF, -1.0), 0.0), ((-1.0, INF), 1.0), ((0.5, INF), 0.0)])
    whole = [(x, n) for x in p.uniform(-3, 3, 12) for n in (0, 1, 2, 3, 7, 20, 64, -1, -2, -13)]
    function("powi_f64", lambda x, n: x**n, whole, lambda x, n: n * x ** (n - 1),
             edges=[((NAN, 0), 1.0), ((0.0, -1), INF), ((-1.0, E63 - 1), -1.0), ((2.0, -E63), 0.0), ((INF, -2), 0.0)])
    logistic = p.uniform(-5, 5) + p.uniform(-700, 700) + p.both(-20, 0) + near(-37.0, 37.0)
    sigmoid = lambda x: 1 / (1 + mp.exp(-x))
    function("sigmoid_f64", sigmoid, logistic, lambda x: sigmoid(x) * sigmoid(-x),
             edges=[(INF, 1.0), (-INF, 0.0), (NAN, NAN), (0.0, 0.5)])
    softplus = lambda x: max(x, 0) + mp.log1p(mp.exp(-abs(x)))
    function("softplus_f64", softplus, logistic, sigmoid, edges=[(INF, INF), (-INF, 0.0), (NAN, NAN)])
    function("relu_f64", lambda x: max(x, 0), logistic, lambda x: mpf(1 if x > 0 else 0),
             edges=[(NAN, NAN), (-INF, 0.0), (INF, INF), (-0.0, 0.0)])
    both = p.pairs(logistic, logistic) + [(x, x + d) for x, d in zip(p.uniform(-9, 9), p.both(-9, 0, 24))]
    both += [(x, x) for x in p.uniform(-2, 2, 8)] + [(1e300, -1e300), (-HUGE, -HUGE)]
    function("logaddexp_f64", lambda x, y: max(x, y) + softplus(-abs(x - y)), both,
             lambda x, y: sigmoid(x - y) if abs(x - y) < 1e4 else mpf(1 if x > y else 0),
             lambda x, y: sigmoid(y - x) if abs(x - y) < 1e4 else mpf(1 if y > x else 0),
             edges=[((INF, INF), INF), ((-INF, -INF), -INF), ((INF, -INF), INF), ((-INF, 2.0), 2.0), ((NAN, INF), NAN)])


def circular():
    p = Points("circular")
    quarter = [k * math.pi / 4 for k in range(-9, 10) if k]
    angles = p.uniform(-3.2, 3.2) + p.uniform(-100, 100) + p.both(-20, 300, 32) + near(*quarter) + [1e22, HUGE]
    nothing = [(INF, NAN), (-INF, NAN), (NAN, NAN)]
    function("sin_f64", mp.sin, angles, mp.cos, edges=nothing + same(0.0, -0.0))
    function("cos_f64", mp.cos, angles, lambda x: -mp.sin(x), edges=nothing + [(0.0, 1.0)])
    function("tan_f64", mp.tan, angles, lambda x: mp.sec(x) ** 2, edges=nothing + same(0.0, -0.0))
    ratios = p.uniform(-1, 1, 40) + p.both(-300, 0) + near(0.5, -0.5, 0.975)
    ratios += [s * (1 - x) for s in (1, -1) for x in p.spread(-15, -1)] + [next_down(1.0), next_up(-1.0)]
    slope = lambda x: 1 / mp.sqrt((1 - x) * (1 + x))
    beyond = [(2.0, NAN), (-INF, NAN), (NAN, NAN), (next_up(1.0), NAN)]
    function("asin_f64", mp.asin, ratios, slope, edges=beyond + same(0.0, -0.0))
    function("acos_f64", mp.acos, ratios, lambda x: -slope(x), edges=beyond + [(1.0, 0.0)])
    slopes = p.uniform(-4, 4) + p.both(-300, 300, 32) + near(0.4375, 0.6875, 1.1875, 2.4375)
    function("atan_f64", mp.atan, slopes, lambda x: 1 / (1 + x * x), edges=same(0.0, -0.0, NAN))
    line("atan_f64", (INF,), mp.pi / 2, [None])
    line("atan_f64", (-INF,), -mp.pi / 2, [None])
    sides = p.uniform(-3, 3) + p.both(-150, 150, 24)
    function("atan2_f64", mp.atan2, p.pairs(sides, sides), lambda y, x: x / (x * x + y * y),
             lambda y, x: -y / (x * x + y * y), edges=[((0.0, 1.0), 0.0), ((NAN, 1.0), NAN), ((1.0, INF), 0.0)])
    for args, turn in [((0.0, -0.0), 1), ((-0.0, -0.0), -1), ((0.0, -3.0), 1), ((INF, INF), 0.25), ((INF, -INF), 0.75),
                       ((-1.0, 0.0), -0.5), ((1.0, -INF), 1)]:
        line("atan2_f64", args, mp.pi * turn, [None, None])


def hyperbolic():
    p = Points("hyperbolic")
    both = p.uniform(-3, 3, 32) + p.uniform(-709, 709) + p.both(-300, -1) + near(0.25, 22.0, -1.0) + [710.4, 711.0, -711.0]
    function("sinh_f64", mp.sinh, both, mp.cosh, edges=ODD)
    function("cosh_f64", mp.cosh, both, mp.sinh, edges=[(INF, INF), (-INF, INF), (NAN, NAN), (0.0, 1.0)])
    function("tanh_f64", mp.tanh, both, lambda x: mp.sech(x) ** 2, edges=[(INF, 1.0), (-INF, -1.0)] + same(0.0, -0.0, NAN))
    wide = p.uniform(-3, 3, 32) + p.both(-300, 308, 40) + near(2.0, 0.5, -0.125) + [HUGE]
    function("asinh_f64", mp.asinh, wide, lambda x: 1 / mp.sqrt(1 + x * x), edges=ODD)
    above = p.uniform(1, 4, 32) + [1 + x for x in p.spread(-15, 0)] + p.spread(0, 308) + near(2.0, 1.125) + [next_up(1.0), HUGE]
    function("acosh_f64", mp.acosh, [x for x in above if x > 1], lambda x: 1 / mp.sqrt((x - 1) * (x + 1)),
             edges=[(1.0, 0.0), (next_down(1.0), NAN), (0.0, NAN), (-1.5, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)])
    inside = p.uniform(-1, 1, 32) + p.both(-300, 0) + near(0.5, -0.5)
    inside += [s * (1 - x) for s in (1, -1) for x in p.spread(-15, -1)] + [next_down(1.0), next_up(-1.0)]
    function("atanh_f64", mp.atanh, inside, lambda x: 1 / ((1 - x) * (1 + x)),
             edges=[(1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN), (NAN, NAN)] + same(0.0, -0.0))
    more = p.uniform(-40, 40, 60) + p.uniform(-360, 360) + near(18.0, 19.0, -22.0)
    function("tanh_f64", mp.tanh, more, lambda x: mp.sech(x) ** 2)
    slope = lambda x: mp.sech(x / 2) ** 2 / 4
    function("sigmoid_slope_f64", slope, more + both, lambda x: -slope(x) * mp.tanh(x / 2),
             edges=[(INF, 0.0), (-INF, 0.0), (NAN, NAN), (0.0, 0.25)])


def special():
    p = Points("special")
    bell = lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
    both = p.uniform(-6.5, 6.5, 40) + p.both(-300, -1) + near(0.84375, 1.25, 2.857, -0.84375)
    function("erf_f64", mp.erf, both + [27.0, -30.0], bell, edges=[(INF, 1.0), (-INF, -1.0)] + same(0.0, -0.0, NAN))
    tails = both + p.uniform(0, 26.5, 40) + near(28.0) + [-30.0]
    function("erfc_f64", mp.erfc, tails, lambda x: -bell(x), edges=[(INF, 0.0), (-INF, 2.0), (0.0, 1.0), (NAN, NAN)])
    inside = p.uniform(-1, 1, 40) + p.both(-300, 0) + near(0.5, -0.5, 0.9966)
    inside += [s * (1 - x) for s in (1, -1) for x in p.spread(-15.9, -1)] + [next_down(1.0), next_up(-1.0), TINY]
    function("erfinv_f64", erfinv, [x for x in inside if abs(x) < 1], lambda x: 1 / bell(erfinv(x)),
             edges=[(1.0, INF), (-1.0, -INF), (2.0, NAN), (-INF, NAN), (NAN, NAN)] + same(0.0, -0.0))
    fraction = lambda xs: [x for x in xs if x != math.floor(x)]
    positive = p.uniform(0.01, 5, 40) + p.uniform(5, 170) + p.spread(-300, 0) + [float(n) for n in range(1, 31, 4)]
    negative = fraction(p.uniform(-8, 0, 40) + p.uniform(-170, 0))
    poles = [y for n in (-1.0, -2.0, -5.0) for y in (next_down(n), next_up(n))]
    roots = near(1.4616321449683622) + near(1.0, 2.0) + near(3.0, 10.0)
    psi = mp.digamma
    function("gamma_f64", mp.gamma, positive + negative + poles + roots + [171.6, 171.7, 200.0, -180.5, -200.5],
             lambda x: mp.gamma(x) * psi(x),
             edges=[(0.0, INF), (-0.0, -INF), (-1.0, NAN), (-1e300, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)])
    log_gamma = lambda x: mp.loggamma(x).real if x > 0 else mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x).real
    large = p.spread(2, 300)
    minus = negative + fraction([-x for x in p.spread(2, 12)])
    function("lgamma_f64", log_gamma, [x for x in positive + minus + poles + roots + large if x not in (1, 2)], psi,
             edges=[(0.0, INF), (-0.0, INF), (-1.0, INF), (INF, INF), (NAN, NAN), (1.0, 0.0), (2.0, 0.0)])
    slope = lambda x: mp.polygamma(1, x) if x > 0 else (mp.pi / mp.sinpi(x)) ** 2 - mp.polygamma(1, 1 - x)
    function("digamma_f64", psi, positive + minus + poles + roots + large, slope,
             edges=[(0.0, -INF), (-0.0, INF), (-1.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)])
    orders = [(k, x) for k in (0, 1, 2, 3, 5, 10, 20)
              for x in p.uniform(0.05, 6, 8) + p.uniform(5, 60, 6) + p.spread(-10, 6, 6) + fraction(p.uniform(-6, 0, 8))]
    orders += [(1, x) for x in roots + poles + p.spread(6, 150)] + [(50, 3.5), (100, 60.25), (150, 100.5), (30, 1e-5)]
    function("polygamma_f64", mp.polygamma, orders, lambda k, x: mp.polygamma(k + 1, x),
             edges=[((-1, 2.0), NAN), ((1, 0.0), INF), ((2, 0.0), -INF), ((2, -0.0), INF), ((1, -3.0), INF),
                    ((2, -3.0), NAN), ((1, INF), 0.0), ((1, NAN), NAN), ((3, -INF), NAN), ((E63 - 1, NAN), NAN)])
    sides = p.uniform(0.05, 5, 40) + p.uniform(5, 200, 40) + p.spread(-100, 0) + p.spread(2, 6)
    pairs = p.pairs(sides, sides) + [(1e15, 3.0), (1e17, 2.5), (0.5, 1e300), (85.0, 85.5), (9.99, 500.0), (1e-80, 1e-75)]

    def carefully(f):
        """With the digits that a difference of large logarithms loses."""
        def g(x, y):
            with mp.workdps(80 + int(mp.log10(max(x, y, 10))) * 2):
                return f(x, y)
        return g

    beta = carefully(lambda x, y: mp.exp(mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y)))
    part = carefully(lambda x, y: beta(x, y) * (psi(x) - psi(x + y)))
    function("beta_f64", beta, [(x, y) for x, y in pairs if beta(x, y) > SMALLEST], part, lambda x, y: part(y, x),
             edges=[((0.0, 1.0), INF), ((-1.0, 3.0), NAN), ((INF, 2.0), 0.0), ((NAN, 1.0), NAN), ((-0.5, -0.5), 0.0)])
    steep = p.uniform(-27.5, 27.5, 40) + p.both(-300, 1) + near(26.6, -1.0) + [28.0, -40.0, HUGE]
    gauss = lambda x: mp.exp(-min(x * x, mpf(10) ** 4))
    function("gaussian_f64", gauss, steep, lambda x: -2 * x * gauss(x), edges=[(INF, 0.0), (-INF, 0.0), (NAN, NAN), (0.0, 1.0)])


def erfinv(x):
    """The root of erf(r) = x, by Newton's method on the logarithm of the tail."""
    a = abs(x)
    if a < mpf(10) ** -30:
        # The next term of the series is smaller by a^2.
        return mp.sqrt(mp.pi) / 2 * (x + mp.pi / 12 * x**3)
    r = mp.erfinv(mpf(float(a))) if a < 0.9 else mp.sqrt(-mp.log(1 - a))
    for _ in range(60):
        step = (mp.log(mp.erfc(r)) - mp.log1p(-a)) * mp.erfc(r) * mp.exp(r * r) * mp.sqrt(mp.pi) / 2
        r += step
        if abs(step) < mpf(10) ** -60 * r:
            break
    return mp.sign(x) * r


def steps():
    p = Points("steps")
    points = p.uniform(-5, 5) + p.both(-300, 300) + near(0.5, -0.5, 1.5, -2.5, 4.0, 4503599627370496.0, 4503599627370497.5)
    away = lambda x: mp.sign(x) * mp.floor(abs(x) + mpf(1) / 2)
    towards = lambda x: mp.sign(x) * mp.floor(abs(x))
    for name, f in [("floor", mp.floor), ("ceil", mp.ceil), ("trunc", towards), ("round", away)]:
        function(name + "_f64", f, points, zero, edges=ODD)
    function("sign_f64", mp.sign, points, zero, edges=[(INF, 1.0), (-INF, -1.0), (0.0, 0.0), (-0.0, 0.0), (NAN, NAN)])
    clip = lambda x: min(max(int(towards(x)), -E63), E63 - 1)
    function("i64_f64", clip, points + [9.3e18, -9.3e18], zero,
             edges=[(NAN, 0), (INF, E63 - 1), (-INF, -E63)])


def remainders():
    """With exact fractions: a quotient may have more digits than mpmath carries."""
    p = Points("remainders")
    sides = p.uniform(-30, 30) + p.both(-300, 300, 24)
    pairs = [(x, y) for x, y in p.pairs(sides, sides) if abs(x / y) < 1e300]
    pairs += [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (0.3, 0.1), (1e308, 3e-308), (TINY, SMALLEST), (SMALLEST, TINY)]
    whole = lambda x, y: int(Fraction(x) / Fraction(y))
    for x, y in pairs:
        k = whole(x, y)
        value = float(Fraction(x) - k * Fraction(y))
        line("rem_f64", (x, y), math.copysign(value, x), [mpf(1), -mpf(k)])
    for x, y, value in [(INF, 1.0, NAN), (1.0, 0.0, NAN), (1.5, INF, 1.5), (-1.5, -INF, -1.5), (-0.0, 1.0, -0.0),
                        (-6.0, 3.0, -0.0), (NAN, 1.0, NAN)]:
        line("rem_f64", (x, y), value, [None, None])
    terms = p.uniform(-3, 3) + p.both(-150, 150, 24)
    three = [(x, y, z) for (x, y), z in zip(p.pairs(terms, terms), p.uniform(-9, 9) + p.both(-300, 300, 60))]
    three += [(1 + 2.0**-30, 1 - 2.0**-30, -1.0), (0.1, 10.0, -1.0), (TINY, 0.5, TINY), (HUGE, 2.0, -HUGE)]
    for x, y, z in three:
        value = float(Fraction(x) * Fraction(y) + Fraction(z))
        line("fma_f64", (x, y, z), value, [mpf(y), mpf(x), mpf(1)])
    for x, y, z, value in [(INF, 0.0, 1.0, NAN), (INF, 1.0, -INF, NAN), (-0.0, 1.0, -0.0, -0.0), (2.0, 3.0, INF, INF)]:
        line("fma_f64", (x, y, z), value, [None, None, None])


def others():
    p = Points("others")
    floats = p.uniform(-3, 3, 8) + p.both(-300, 300, 8)
    chosen = [(b, x, y) for x, y in zip(floats, reversed(floats)) for b in (False, True)]
    function("select_f64", lambda b, x, y: x if b else y, chosen,
             lambda b, x, y: mpf(b), lambda b, x, y: mpf(not b), edges=[((True, INF, NAN), INF)])
    ints = [(b, x, y) for x, y in zip(p.integers(), reversed(p.integers())) for b in (False, True)]
    function("select_i64", lambda b, x, y: x if b else y, ints)
    bits = [(x, y) for x in (False, True) for y in (False, True)]
    function("select_bool", lambda b, x, y: x if b else y, [(b, *xy) for b in (False, True) for xy in bits])
    for name, f in [("eq_bool", lambda x, y: x == y), ("ne_bool", lambda x, y: x != y),
                    ("and", lambda x, y: x and y), ("or", lambda x, y: x or y)]:
        function(name, f, bits)
    function("not", lambda x: not x, [False, True])
    function("stop_f64", lambda x: x, floats, zero, edges=ODD)
    function("f64_i64", lambda n: mpf(n), p.integers() + [2**53 + 1, 2**53 + 3, 2**62 + 257])
    function("f64_bool", lambda b: mpf(b), [False, True])
    function("i64_bool", int, [False, True])
    line("inf", (), INF, [])
    line("nan", (), NAN, [])


second() if sys.argv[2:] == ["second"] else main()
