"""The same as gradient.c, from Python without any package.

    cc -shared -o libsequence.so sequence.o libjut_runtime.a
    python3 gradient.py ./libsequence.so
"""

import ctypes
import struct
import sys
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p


class Error(ctypes.Structure):
    _fields_ = [
        ("status", c_int32),
        ("line", c_int32),
        ("column", c_int32),
        ("count", c_int32),
        ("message", c_char_p),
        ("numbers", c_int64 * 3),
    ]


library = ctypes.CDLL(sys.argv[1])
library.jut_workspace_new.restype = c_void_p
library.jut_workspace_free.argtypes = [c_void_p]
library.loss_value_grad.restype = c_int
library.loss_value_grad.argtypes = (
    [c_int64] * 3
    + [POINTER(c_double), c_double, POINTER(c_int64), POINTER(c_double)]
    + [POINTER(c_double)] * 3
    + [c_void_p, POINTER(Error)]
)


def doubles(values):
    return (c_double * len(values))(*values)


def gradient(table, decay, words, target):
    """The value, and the gradients by table and decay."""
    n = len(target)
    value, grad_decay, error = c_double(), c_double(), Error()
    grad_table = (c_double * len(table))()
    workspace = library.jut_workspace_new()
    try:
        status = library.loss_value_grad(
            len(table) // n, n, len(words),
            doubles(table), decay, (c_int64 * len(words))(*words), doubles(target),
            byref(value), grad_table, byref(grad_decay), workspace, byref(error),
        )
    finally:
        library.jut_workspace_free(workspace)
    if status != 0:
        numbers = ", ".join(str(k) for k in error.numbers[: error.count])
        raise ValueError(f"status {status}: {error.message.decode()} ({numbers})")
    return value.value, list(grad_table), grad_decay.value


def bits(name, numbers):
    print(name, *(struct.pack(">d", x).hex() for x in numbers))


table = [(i * 7 % 11) / 8.0 - 0.5 for i in range(15)]
target = [0.25 * i for i in range(3)]
words = [0, 3, 1, 4, 3, 2]
decays = [0.5, 0.875]
results = [None, None]


def run(k):
    results[k] = gradient(table, decays[k], words, target)


threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for value, by_table, by_decay in results:
    bits("value", [value])
    bits("table", by_table)
    bits("decay", [by_decay])
try:
    gradient(table, 0.5, [7], target)
except ValueError as error:
    print(error)
