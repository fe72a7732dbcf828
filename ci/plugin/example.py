# Python functions as kernels, without any package:
#
#     python3 example.py check -k 'python|twice'
#     python3 example.py run twice/n=1000
import array
import math
import os
import sys

sys.path.insert(0, os.environ.get("ASSAY_PYTHON", ""))
import assay


@assay.variant("elementwise_add_backward", name="python", arrays="memoryview")
def add_backward(dz, dx, dy, alpha):
    for i in range(len(dz)):
        dx[i] = dz[i]
        dy[i] = alpha * dz[i]


# An operation of this script's own, its reference called with numbers of double precision.
def reference(x, y):
    for i in range(len(y)):
        y[i] = 2 * math.sin(x[i])


assay.operation("twice", about="y = 2 sin x", fields={"n": (1, 1 << 20)}, cases=["n=1", "n=17", "n=64"],
                describe=lambda n: {"x": ("f32", "input", (n,)), "y": ("f32", "output", (n,))},
                reference=reference, cost=lambda n: (2 * n, 4 * n, 4 * n), arrays="memoryview")


@assay.variant("twice", name="returned", arrays="memoryview")
def returned(x):
    return array.array("f", (2 * math.sin(v) for v in x))


fault = os.environ.get("PYTHON_FAULT", "")


def sound(n):
    if fault == "cannot say":
        raise KeyError(n)
    return None if fault else "is sound today"


@assay.variant("twice", name="bad", arrays="memoryview", unfit=sound)
def bad(x):
    if fault == "raises":
        raise ValueError("no such tile")
    while fault == "hangs":
        pass
    if fault == "exits":
        sys.exit(3)
    if fault == "shorter":
        return array.array("f", x[1:]) if len(x) > 1 else array.array("f", [1, 2])
    if fault == "is wrong":
        return array.array("f", (2 * v for v in x))


if __name__ == "__main__":
    assay.main()
