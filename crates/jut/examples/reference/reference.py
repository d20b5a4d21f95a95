"""Reference values for the example programs, made without automatic differentiation.

Each program is written once more, as ordinary Python on mpmath numbers with 80 digits. Its gradient
is the central difference (f(x + h) - f(x - h)) / 2h with h = 1e-25: the formula is wrong by about
h^2, and 80 digits leave 55 after the cancellation, so at least 45 digits are right. The inputs are
binary64 numbers, taken exactly; what is written is the binary64 number nearest to the result.

The optimum of the logistic fit comes from Newton's method with 50 digits, run until the gradient is
below 1e-40. The printed loss is right to all the digits of a binary64 number.

    pip install mpmath
    python3 reference.py          # writes ../data/*.json (arguments) and ./*.json (results)
"""

import csv
import json
import pathlib
import random

from mpmath import mp, mpf, exp, log, log1p, sin, tanh

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data"
mp.dps = 80
STEP = mpf(10) ** -25


# ---- the programs, a second time ---------------------------------------------------------------

def f(u):
    return -sin(u)


def power(x, n):
    return x**n


def rosenbrock(x):
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(len(x) - 1))


def neighbours(x):
    return sum(x[i] * x[i + 1] for i in range(len(x) - 1))


def logsumexp(x):
    return log(sum(exp(v) for v in x))


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def loss(w, b, x, y, l2):
    z = [b + dot(w, row) for row in x]
    total = sum(log1p(exp(z_i)) - y_i * z_i for z_i, y_i in zip(z, y))
    return total / len(x) + l2 * dot(w, w) / 2


def mlp(w1, b1, w2, b2, x, label):
    total = mpf(0)
    for row, k in zip(x, label):
        hidden = [tanh(b + dot(w, row)) for w, b in zip(w1, b1)]
        score = [b + dot(w, hidden) for w, b in zip(w2, b2)]
        total += log(sum(exp(s) for s in score)) - score[k]
    return total / len(x)


def rnn(w, h0, x, target):
    h = h0
    for row in x:
        h = [tanh(dot(w_i, h) + x_i) for w_i, x_i in zip(w, row)]
    return sum((p - q) ** 2 for p, q in zip(h, target))


def misfit(u0, a, k, steps, target):
    u = list(u0)
    for _ in range(steps):
        u = [u[0]] + [
            u[i] - a * u[i] * (u[i + 1] - u[i - 1]) + k * (u[i - 1] - 2 * u[i] + u[i + 1])
            for i in range(1, len(u) - 1)
        ] + [u[-1]]
    return sum((p - q) ** 2 for p, q in zip(u, target))


def energy(r):
    total = mpf(0)
    for i in range(len(r)):
        for j in range(i):
            d2 = sum((p - q) ** 2 for p, q in zip(r[i], r[j]))
            total += 4 * (d2**-6 - d2**-3)
    return total


def product(a, b):
    return [[dot(row, column) for column in zip(*b)] for row in a]


def network(w, b, v, c, x, y):
    hidden = [[tanh(z + b_j) for z, b_j in zip(row, b)] for row in product(x, w)]
    scores = [[s + c_j for s, c_j in zip(row, c)] for row in product(hidden, v)]
    return sum(log(sum(exp(s) for s in row)) - row[k] for row, k in zip(scores, y)) / len(x)


# ---- inputs ------------------------------------------------------------------------------------

rng = random.Random(2023)


def number(low, high):
    return round(rng.uniform(low, high), 3)


def vector(n, low=-1.0, high=1.0):
    return [number(low, high) for _ in range(n)]


def matrix(n, m, low=-1.0, high=1.0):
    return [vector(m, low, high) for _ in range(n)]


def particles():
    """A slightly shaken 2 x 2 x 3 lattice, spaced near the well's bottom."""
    lattice = [(i, j, k) for i in range(2) for j in range(2) for k in range(3)]
    return [[round(1.12 * c + rng.uniform(-0.08, 0.08), 3) for c in site] for site in lattice]


def bumps(n):
    return [round(float(mp.sin(2 * mp.pi * i / (n - 1)) + mpf("0.3") * mp.sin(6 * mp.pi * i / (n - 1))), 3) for i in range(n)]


PROGRAMS = [
    # file, function, the same in Python, differentiated parameters, arguments
    ("sin", "f", f, ["u"], {"u": 0.7}),
    ("power", "power", power, ["x"], {"x": 1.1, "n": 13}),
    ("rosenbrock", "rosenbrock", rosenbrock, ["x"], {"x": vector(12, -1.5, 1.5)}),
    ("neighbours", "neighbours", neighbours, ["x"], {"x": vector(9, -2, 2)}),
    ("logsumexp", "logsumexp", logsumexp, ["x"], {"x": vector(20, 995, 1001)}),
    ("logistic", "loss", loss, ["w", "b"],
     {"w": vector(4), "b": 0.25, "x": matrix(12, 4, -2, 2), "y": [float(rng.randrange(2)) for _ in range(12)], "l2": 0.01}),
    ("mlp", "mlp", mlp, ["w1", "b1", "w2", "b2"],
     {"w1": matrix(4, 5), "b1": vector(4), "w2": matrix(3, 4), "b2": vector(3), "x": matrix(7, 5, -2, 2),
      "label": [rng.randrange(3) for _ in range(7)]}),
    ("rnn", "rnn", rnn, ["w", "h0", "x"],
     {"w": matrix(4, 4), "h0": vector(4), "x": matrix(6, 4), "target": vector(4)}),
    ("stencil", "misfit", misfit, ["u0", "k"],
     {"u0": bumps(24), "a": 0.05, "k": 0.2, "steps": 40, "target": vector(24, -0.5, 0.5)}),
    ("lennard_jones", "energy", energy, ["r"], {"r": particles()}),
    ("network", "loss", network, ["w", "b", "v", "c"],
     {"w": matrix(5, 4), "b": vector(4), "v": matrix(4, 3), "c": vector(3), "x": matrix(7, 5, -2, 2),
      "y": [rng.randrange(3) for _ in range(7)]}),
]


# ---- values and gradients ----------------------------------------------------------------------

def exact(v):
    """The same nest of lists with floats as exact mpmath numbers; integers stay."""
    if isinstance(v, list):
        return [exact(e) for e in v]
    return mpf(v) if isinstance(v, float) else v


def nearest(v):
    return [nearest(e) for e in v] if isinstance(v, list) else float(v)


def gradient(evaluate, args, name):
    """Central differences with respect to every element of one argument, in its shape."""
    def walk(get, put):
        v = get()
        if isinstance(v, list):
            return [walk(lambda i=i: v[i], lambda e, i=i: v.__setitem__(i, e)) for i in range(len(v))]
        put(v + STEP)
        above = evaluate(args)
        put(v - STEP)
        below = evaluate(args)
        put(v)
        return (above - below) / (2 * STEP)
    return walk(lambda: args[name], lambda e: args.__setitem__(name, e))


def write(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def programs():
    for stem, function, python, wrt, args in PROGRAMS:
        write(DATA / f"{stem}.json", args)
        numbers = {name: exact(v) for name, v in args.items()}
        evaluate = lambda a: python(**a)
        write(HERE / f"{stem}.json", {
            "made_by": "reference.py: central differences with 80 digits and h = 1e-25",
            "program": f"{stem}.jut",
            "function": function,
            "wrt": wrt,
            "value": float(evaluate(numbers)),
            "gradient": {name: nearest(gradient(evaluate, numbers, name)) for name in wrt},
        })


# ---- the logistic fit --------------------------------------------------------------------------

def logistic_fit(l2="0.01"):
    """The smallest loss of logistic.jut on the standardised data, by Newton's method."""
    mp.dps = 50
    with open(DATA / "breast_cancer.csv") as file:
        rows = [[mpf(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    n, d = len(rows), len(rows[0]) - 1
    y = [row[d] for row in rows]
    columns = []
    for j in range(d):
        column = [row[j] for row in rows]
        mean = sum(column) / n
        deviation = mp.sqrt(sum((v - mean) ** 2 for v in column) / n)
        columns.append([(v - mean) / deviation for v in column])
    x = [[columns[j][i] for j in range(d)] + [mpf(1)] for i in range(n)]
    penalty = [mpf(l2)] * d + [mpf(0)]
    theta = [mpf(0)] * (d + 1)
    while True:
        z = [dot(theta, row) for row in x]
        p = [1 / (1 + exp(-v)) for v in z]
        slope = [sum((p[i] - y[i]) * x[i][j] for i in range(n)) / n + penalty[j] * theta[j] for j in range(d + 1)]
        size = max(abs(s) for s in slope)
        if size < mpf(10) ** -40:
            break
        hessian = mp.matrix(d + 1, d + 1)
        for i in range(n):
            weight = p[i] * (1 - p[i]) / n
            for j in range(d + 1):
                for k in range(j + 1):
                    hessian[j, k] += weight * x[i][j] * x[i][k]
        for j in range(d + 1):
            hessian[j, j] += penalty[j]
            for k in range(j):
                hessian[k, j] = hessian[j, k]
        move = mp.lu_solve(hessian, mp.matrix(slope))
        theta = [t - move[j] for j, t in enumerate(theta)]
    value = loss(theta[:d], theta[d], [row[:d] for row in x], y, mpf(l2))
    right = sum(1 for i in range(n) if (z[i] > 0) == (y[i] > 0))
    write(HERE / "logistic_fit.json", {
        "made_by": "reference.py: Newton's method with 50 digits, until the gradient is below 1e-40",
        "program": "logistic.jut",
        "data": "breast_cancer.csv, features standardised (population deviation), l2 = " + l2,
        "l2": float(l2),
        "loss": float(value),
        "loss_accuracy": 1e-16,
        "classified_right": right,
        "w": nearest(theta[:d]),
        "b": float(theta[d]),
    })


if __name__ == "__main__":
    programs()
    logistic_fit()
