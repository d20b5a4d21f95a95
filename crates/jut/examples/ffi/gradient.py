"""The same as gradient.c, from Python with NumPy.

    jut build sequence.jut loss --wrt table,decay --derivative value_grad,hvp \
        --shared libsequence.so
    python3 gradient.py ./libsequence.so
"""

import ctypes
import sys
import threading
from ctypes import byref, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p

import numpy
from numpy.ctypeslib import ndpointer


class Error(ctypes.Structure):
    _fields_ = [
        ("status", c_int32),
        ("line", c_int32),
        ("column", c_int32),
        ("count", c_int32),
        ("message", c_char_p),
        ("numbers", c_int64 * 3),
    ]


vector = ndpointer(numpy.float64, ndim=1, flags="C_CONTIGUOUS")
matrix = ndpointer(numpy.float64, ndim=2, flags="C_CONTIGUOUS")
integers = ndpointer(numpy.int64, ndim=1, flags="C_CONTIGUOUS")
number = ctypes.POINTER(c_double)
arguments = [c_int64, c_int64, c_int64, matrix, c_double, integers, vector]
end = [c_void_p, ctypes.POINTER(Error)]

library = ctypes.CDLL(sys.argv[1])
library.jut_workspace_new.restype = c_void_p
library.jut_workspace_free.argtypes = [c_void_p]
library.loss_value_grad.restype = c_int
library.loss_value_grad.argtypes = arguments + [number, matrix, number] + end
library.loss_hvp.restype = c_int
library.loss_hvp.argtypes = arguments + [matrix, c_double, matrix, number] + end


class Loss:
    """The loss of a sequence of words, with its derivatives. One thread uses it at a time."""

    def __init__(self, words, target):
        self.words = numpy.asarray(words, numpy.int64)
        self.target = numpy.asarray(target, numpy.float64)
        self.workspace = library.jut_workspace_new()

    def __del__(self):
        library.jut_workspace_free(self.workspace)

    def _call(self, function, table, decay, *rest):
        error = Error()
        sizes = (*table.shape, len(self.words))
        given = (table, decay, self.words, self.target)
        if function(*sizes, *given, *rest, self.workspace, byref(error)) != 0:
            numbers = ", ".join(str(k) for k in error.numbers[: error.count])
            raise ValueError(f"status {error.status}: {error.message.decode()} ({numbers})")

    def value_and_gradient(self, table, decay):
        value, by_table, by_decay = c_double(), numpy.empty_like(table), c_double()
        rest = byref(value), by_table, byref(by_decay)
        self._call(library.loss_value_grad, table, decay, *rest)
        return value.value, by_table, by_decay.value

    def hessian_product(self, table, decay, table_tangent, decay_tangent):
        by_table, by_decay = numpy.empty_like(table), c_double()
        rest = table_tangent, decay_tangent, by_table, byref(by_decay)
        self._call(library.loss_hvp, table, decay, *rest)
        return by_table, by_decay.value


def bits(name, numbers):
    words = numpy.asarray(numbers, numpy.float64).ravel().view(numpy.uint64)
    print(name, *(f"{word:016x}" for word in words))


table = (numpy.arange(15) * 7 % 11 / 8.0 - 0.5).reshape(5, 3)
tangent = (numpy.arange(15) % 4 - 1.5).reshape(5, 3)
target = 0.25 * numpy.arange(3)
decays = [0.5, 0.875]
results = [None, None]


def run(k):
    loss = Loss([0, 3, 1, 4, 3, 2], target)
    for _ in range(100):
        results[k] = [
            *loss.value_and_gradient(table, decays[k]),
            *loss.hessian_product(table, decays[k], tangent, 0.5),
        ]


threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for result in results:
    for name, numbers in zip(["value", "table", "decay", "hvp table", "hvp decay"], result):
        bits(name, numbers)
try:
    Loss([7], target).value_and_gradient(table, 0.5)
except ValueError as error:
    print(error)
