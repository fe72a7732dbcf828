"""Python functions, checked, timed and compared as compiled kernels are. One file, which needs no other package.

    import assay

    assay.compare(f, g, x, y)               # is g faster than f, and does it compute the same?
    for batch in assay.timed(loader): ...   # how long is an epoch, and why: assay predict job.json

    @assay.variant("layernorm")             # a kernel for an operation of assay, judged by its oracle
    def mine(x, gamma, beta, y, mean, rstd, rows, cols): ...

    assay.main()                            # this script is a program of assay now:
                                            #   python3 mine.py check -k layernorm/mine
                                            #   python3 mine.py run layernorm/rows=512,cols=768

A function is called by the names of its parameters: tensors of the operation, and fields of its problem. Tensors are
numpy arrays where numpy is installed, and memoryviews elsewhere; arrays="torch" gives tensors. Those of an operation
of assay are flat. Outputs that are no parameters are what the function returns, one or a tuple in their order; they
are copied, inside the time.

An installation has this file in share/assay/python, which PYTHONPATH has to name. The library libassay.so does the
work. It is looked for at $ASSAY_LIBRARY, beside this file, in build/release of the project that this file lies in, and
where libraries are installed.
"""

import array
import ctypes
import ctypes.util
import fcntl
import glob
import hashlib
import inspect
import itertools
import json
import math
import operator
import os
import pickle
import re
import signal
import sys
import tempfile
import time

__version__ = "0.1.0"
__all__ = ["compare", "variant", "operation", "main", "timed", "Comparison", "AssayError"]

_ABI = 1
_MOST_AXES = 8
F32, F64, F16, BF16, I32, I64, U8, OTHER = range(8)
_INPUT, _CONSTANT, _OUTPUT, _INOUT = range(4)
_USES = {"input": _INPUT, "constant": _CONSTANT, "output": _OUTPUT, "inout": _INOUT}
_TYPES = {"f32": F32, "f64": F64, "f16": F16, "bf16": BF16, "i32": I32, "i64": I64, "u8": U8}
_NUMPY = {F32: "float32", F64: "float64", F16: "float16", I32: "int32", I64: "int64", U8: "uint8"}
_FORMATS = {F32: "f", F64: "d", F16: "e", I32: "i", I64: "q", U8: "B"}
_TORCH = {**_NUMPY, BF16: "bfloat16"}


class AssayError(Exception):
    """An option, a function or an environment that cannot be used. The text says what to do."""


# The structures of assay/plugin.h. Each has its size in it, by which the library sees when they differ.
_C = ctypes.CFUNCTYPE
_TEXT, _ANY, _INT, _I32, _U32, _I64 = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int32, ctypes.c_uint32,
                                       ctypes.c_int64)
_SIZE, _REAL, _pointer = ctypes.c_size_t, ctypes.c_double, ctypes.POINTER


def _structure(**fields):
    return type("structure", (ctypes.Structure,), {"_fields_": list(fields.items())})


_Tensor = _structure(name=_TEXT, type=_I32, use=_I32, width=_I64, size=_I64, axes=_I32, reserved=_I32,
                     extent=_I64 * _MOST_AXES, low=_I64, high=_I64, data=_ANY)
_Field = _structure(name=_TEXT, value=_I64)
_Problem = _structure(size=_U32, threads=_I32, field_count=_SIZE, fields=_pointer(_Field))
_ProblemPointer, _TensorPointer = _pointer(_Problem), _pointer(_Tensor)
_Unfit = _C(_ANY, _ProblemPointer)  # a text that this script keeps
_Run = _C(_INT, _ANY, _ProblemPointer, _TensorPointer, _SIZE)
_Synchronize, _Seconds, _Failure = _C(_INT, _ANY), _C(_REAL, _ANY), _C(_ANY, _ANY)
_OfTensors = _C(_INT, _ProblemPointer, _TensorPointer, _SIZE)
_Cost = _C(None, _ProblemPointer, *[_pointer(_REAL)] * 3)
_Kernel = _structure(size=_U32, threaded=_I32, operation=_TEXT, name=_TEXT, summary=_TEXT, libraries=_TEXT,
                     precision=_TEXT, unfit=_Unfit, prepare=_C(_ANY, _ProblemPointer, _TensorPointer, _SIZE), run=_Run,
                     release=_C(None, _ANY), synchronize=_Synchronize, seconds=_Seconds, failure=_Failure)
_Rule = _structure(name=_TEXT, low=_I64, high=_I64, optional=_I32, reserved=_I32, fallback=_I64)
_Operation = _structure(size=_U32, version=_I32, name=_TEXT, about=_TEXT, rule_count=_SIZE, rules=_pointer(_Rule),
                        corner_case_count=_SIZE, corner_cases=_pointer(_TEXT), describe=_OfTensors,
                        reference=_OfTensors, bound=_OfTensors, relative=_REAL, absolute=_REAL, exact=_I32,
                        reserved=_I32, cost=_Cost)
_Plugin = _structure(abi=_U32, size=_U32, provider=_TEXT, revision=_TEXT, operation_count=_SIZE,
                     operations=_pointer(_pointer(_Operation)), kernel_count=_SIZE,
                     kernels=_pointer(_pointer(_Kernel)))


def _library():
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("ASSAY_LIBRARY")
    places = [named] if named else [
        os.path.join(here, "libassay.so"), os.path.join(here, "..", "..", "build", "release", "libassay.so"),
        # Installed: this file is PREFIX/share/assay/python/assay.py, or pip put it beside other packages.
        *sorted(glob.glob(os.path.join(here, "..", "..", "..", "lib*", "libassay.so"))),
        *sorted(glob.glob(os.path.join(here, "..", "..", "..", "lib", "*-linux-gnu", "libassay.so"))),
        os.path.join(sys.prefix, "lib", "libassay.so"), ctypes.util.find_library("assay")]
    for place in filter(None, places):
        try:
            return ctypes.CDLL(place)
        except OSError as reason:
            if named:
                raise AssayError(f"$ASSAY_LIBRARY: {reason}") from None
    raise AssayError("libassay.so is not found: build the project (./ci/bench.sh), install it, or set "
                     "ASSAY_LIBRARY to the file")


# Buffers as arrays.


class _Arrays:
    """Makes arrays of one kind of C buffers. The same buffer gives the same array, which costs little."""

    def __init__(self, kind):
        if kind not in (None, "numpy", "torch", "memoryview"):
            raise AssayError(f"arrays={kind!r} is not known: numpy, torch or memoryview")
        self._kind, self._made = kind, {}

    def _numpy(self):
        if self._kind in (None, "numpy"):
            try:
                import numpy
                self._kind = "numpy"
                return numpy
            except ImportError:
                if self._kind == "numpy":
                    raise AssayError("arrays='numpy', and numpy is not installed") from None
                self._kind = "memoryview"
        return None

    def of(self, tensor):
        extents = tuple(tensor.extent[:tensor.axes])
        key = (tensor.data, tensor.type, extents)
        if key not in self._made:
            if len(self._made) > 64:
                self._made.clear()
            self._made[key] = self._make(tensor, extents)
        return self._made[key]

    def _make(self, tensor, extents):
        size = max(tensor.size, 0) * tensor.width
        memory = (ctypes.c_char * size).from_address(tensor.data) if size else bytearray(0)
        numpy = self._numpy()
        if numpy is not None:
            bits = "uint16" if tensor.type == BF16 else f"V{tensor.width}"  # of structures, too
            dtype = _NUMPY.get(tensor.type, bits)
            return numpy.frombuffer(memory, dtype=dtype, count=tensor.size).reshape(extents)
        if self._kind == "torch":
            import torch
            if tensor.type not in _TORCH:
                raise AssayError(f"tensor {tensor.name.decode()} has a type that torch does not know")
            dtype = getattr(torch, _TORCH[tensor.type])
            if size == 0:
                return torch.empty(extents, dtype=dtype)
            return torch.frombuffer(memory, dtype=dtype).reshape(extents)
        view = memoryview(memory).cast("B")
        return view.cast(_FORMATS[tensor.type]) if tensor.type in _FORMATS else view


def _has_integers(array):
    """Whether an output of ours has integers, where a fraction would be cut off."""
    kind = getattr(array, "format", None) or str(getattr(array, "dtype", ""))
    return kind in ("i", "q", "B") or kind.split(".")[-1] in ("int32", "int64", "uint8")


def _copy(result, into, name):
    """Copies the result of a function into an output of ours."""
    shape = getattr(into, "shape", None)
    own = getattr(result, "shape", None)
    if own is None and not hasattr(result, "__len__"):  # a number
        if isinstance(result, float) and _has_integers(into):
            if not result.is_integer():
                raise ValueError(f"returned {result} for {name}, which is an integer")
            result = int(result)
        fill = getattr(into, "fill_", None) or getattr(into, "fill", None)
        if fill is not None:
            return fill(result)
        for i in range(len(into)):
            into[i] = result
        return
    count, wanted = math.prod(own if own is not None else (len(result),)), math.prod(shape)
    if count != wanted:
        raise ValueError(f"returned {count} elements for {name}, which has {wanted}")
    if hasattr(into, "copy_"):
        into.copy_(result.reshape(into.shape))
        if _has_integers(into) and result.is_floating_point() and not bool((into == result.reshape(into.shape)).all()):
            raise ValueError(f"returned fractions for {name}, which has integers")
    elif hasattr(into, "flat"):
        flat = result.ravel() if hasattr(result, "ravel") else list(result)
        into.flat = flat
        if _has_integers(into) and getattr(getattr(result, "dtype", None), "kind", "") == "f" \
                and not (into.ravel() == flat).all():
            raise ValueError(f"returned fractions for {name}, which has integers")
    else:
        is_same = into.format == getattr(result, "typecode", None)
        into[:] = memoryview(result if is_same else array.array(into.format, result))


class _Parameters:
    """The names by which a function is called."""

    def __init__(self, function, where):
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise AssayError(f"{where}: the parameters of {function!r} are not known: wrap it in a def") from None
        self._all = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self._names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self._needed = [p.name for p in parameters if p.default is p.empty and p.name in self._names]

    def __contains__(self, name):
        return self._all or name in self._names

    def of(self, known):
        missing = [name for name in self._needed if name not in known]
        if missing:
            tensors = [name for name in known if hasattr(known[name], "__len__")]
            fields = [name for name in known if name not in tensors]
            raise TypeError(f"has a parameter {missing[0]}, and there are the tensors {', '.join(tensors) or 'none'}, "
                            f"in this order, and the fields {', '.join(fields) or 'none'}: see `assay list`")
        return known if self._all else {name: known[name] for name in self._names if name in known}


def _fields_of(problem):
    return {problem.fields[i].name.decode(): problem.fields[i].value for i in range(problem.field_count)}


def _text_of(fault):
    return f"{type(fault).__name__}: {fault}"


class _Function:
    """A Python function as a kernel or a reference."""

    def __init__(self, function, where, arrays=None):
        self._function, self._arrays = function, _Arrays(arrays)
        self._parameters = _Parameters(function, where)
        self.failure = self.unfit = None
        self._last = None

    def _arguments(self, problem, tensors, count):
        """Returns the arguments by name, and the outputs that the function returns. Reuses those of the last call for the
        same problem and buffers. The problem counts, since its buffers may lie where those of the last one did."""
        key = (problem.threads, *(problem.fields[i].value for i in range(problem.field_count)),
               *(tensors[i].data for i in range(count)))
        if self._last is not None and self._last[0] == key:
            return self._last[1], self._last[2]
        if self.unfit is not None:
            self.unfit(problem)
        known, returned = _fields_of(problem), []
        known["threads"] = problem.threads
        for i in range(count):
            name = tensors[i].name.decode()
            known[name] = self._arrays.of(tensors[i])
            if tensors[i].use in (_OUTPUT, _INOUT) and name not in self._parameters:
                returned.append((name, known[name]))
        arguments = self._parameters.of(known)
        self._last = (key, arguments, returned)
        return arguments, returned

    def __call__(self, problem, tensors, count):
        self.failure = None
        try:
            arguments, returned = self._arguments(problem[0], tensors, count)
            result = self._function(**arguments)
            if returned:
                results = result if isinstance(result, tuple) else (result,)
                if len(results) != len(returned):
                    raise ValueError(f"returned {len(results)} results for {', '.join(n for n, _ in returned)}")
                for (name, into), one in zip(returned, results):
                    _copy(one, into, name)
            return 0
        except SystemExit as leave:  # ends this process alone, and is named for it
            os._exit(leave.code if isinstance(leave.code, int) else 1)
        except BaseException as reason:
            self.failure = _text_of(reason)
            return 1


class _Program:
    """The operations and kernels of this script, in C structures that stay alive."""

    def __init__(self):
        self.operations, self.kernels, self._kept = [], [], []

    def keep(self, thing):
        self._kept.append(thing)
        return thing

    def add_kernel(self, operation, name, function, summary="", threaded=False, libraries=None, precision=None,
                   unfit=None, synchronize=None, seconds=None, arrays=None):
        where = f"{operation}/{name}"
        if any((k.operation, k.name) == (operation.encode(), name.encode()) for k in self.kernels):
            raise AssayError(f"{where} is registered twice: give one of them another name=")
        call = self.keep(_Function(function, where, arrays))

        def text(said):
            return ctypes.addressof(self.keep(ctypes.create_string_buffer(said.encode()))) if said else None

        asked = _Parameters(unfit, f"unfit of {where}") if unfit is not None else None

        def said(problem):
            try:
                return unfit(**asked.of(_fields_of(problem)))
            except Exception as fault:
                raise RuntimeError(f"its unfit() raised {_text_of(fault)}") from fault

        def reason(problem):
            try:
                return text(said(problem[0]))
            except RuntimeError:  # skips nothing: the kernel asks again when it runs, and fails
                return None

        kernel = _Kernel(size=ctypes.sizeof(_Kernel), threaded=int(threaded), operation=operation.encode(),
                         name=name.encode(), summary=(summary or "a Python function").encode(),
                         libraries=libraries.encode() if libraries else None,
                         precision=precision.encode() if precision else None,
                         run=_Run(lambda _, problem, tensors, count: call(problem, tensors, count)),
                         failure=_Failure(lambda _: text(call.failure)))
        if unfit is not None:
            kernel.unfit, call.unfit = _Unfit(reason), said
        if synchronize is not None:
            kernel.synchronize = _Synchronize(lambda _: int(synchronize() or 0))
        if seconds is not None:
            kernel.seconds = _Seconds(lambda _: float(seconds()))
        self.kernels.append(kernel)

    def add_operation(self, name, *, about, fields, describe, reference, cases, version=1, relative=0.0, absolute=0.0,
                      exact=False, cost=None, arrays=None):
        """Adds an operation of this script's own.

        fields: {"n": (low, high)} or (low, high, fallback). describe(**fields) returns its tensors, inputs first:
        {"x": ("f32", "input", (n,)), "z": ("f32", "output", (n,))}; integers that are read have limits: ("i32",
        "input", (n,), (0, 9)). reference(...) is called like a kernel, with all numbers as float64. cases: ["n=1",
        "n=17"]. cost(**fields) returns FLOPs, bytes read and bytes written. Tolerances are those of
        torch.testing.assert_close, unless given; exact: small whole numbers give the same bits in every order."""
        call = self.keep(_Function(reference, name, arrays))

        def describe_c(problem, tensors, capacity):
            try:
                told = describe(**_fields_of(problem[0]))
                for i, (tensor, (kind, use, extents, *limits)) in enumerate(told.items()):
                    if i >= capacity or len(extents) > _MOST_AXES:
                        return -1
                    to = tensors[i]
                    to.name = self.keep(tensor.encode())
                    to.type, to.use, to.axes = _TYPES[kind], _USES[use], len(extents)
                    for axis, extent in enumerate(extents):
                        to.extent[axis] = int(extent)
                    to.low, to.high = limits[0] if limits else (0, 0)
                return len(told)
            except Exception as wrong:
                print(f"assay: describe() of {name}: {_text_of(wrong)}", file=sys.stderr)
                return -1

        def reference_c(problem, tensors, count):
            code = call(problem, tensors, count)
            if code:
                print(f"assay: reference of {name}: {call.failure}", file=sys.stderr)
            return code

        rules = []
        for field, rule in fields.items():
            low, high, *fallback = rule
            rules.append(_Rule(name=self.keep(field.encode()), low=low, high=high, optional=int(bool(fallback)),
                               fallback=fallback[0] if fallback else 0))
        operation = _Operation(size=ctypes.sizeof(_Operation), version=version, name=name.encode(),
                               about=about.encode(), rule_count=len(rules),
                               rules=self.keep((_Rule * max(len(rules), 1))(*rules)),
                               corner_case_count=len(cases),
                               corner_cases=self.keep((ctypes.c_char_p * len(cases))(*[c.encode() for c in cases])),
                               describe=_OfTensors(describe_c), reference=_OfTensors(reference_c),
                               relative=relative, absolute=absolute, exact=int(exact))
        if cost is not None:
            def cost_c(problem, flops, read, written):
                flops[0], read[0], written[0] = cost(**_fields_of(problem[0]))
            operation.cost = _Cost(cost_c)
        self.operations.append(operation)

    def run(self, arguments, anew):
        """Runs the command line in this process, and returns the exit code."""
        def pointers(structures, kind):
            return (ctypes.POINTER(kind) * max(len(structures), 1))(*map(ctypes.pointer, structures))
        plugin = _Plugin(abi=_ABI, size=ctypes.sizeof(_Plugin), provider=b"Python",
                         operation_count=len(self.operations), operations=pointers(self.operations, _Operation),
                         kernel_count=len(self.kernels), kernels=pointers(self.kernels, _Kernel))
        words = [w.encode() for w in ["assay", *arguments]]
        again = [w.encode() for w in anew] + [None] if anew else None
        sys.stdout.flush()
        sys.stderr.flush()
        main_of = _library().assay_main
        main_of.restype = ctypes.c_int
        return main_of(ctypes.byref(plugin), (ctypes.c_char_p * len(again))(*again) if again else None,
                       len(words), (ctypes.c_char_p * len(words))(*words))


_script = _Program()


def variant(operation, function=None, *, name=None, summary="", threaded=False, libraries=None, precision=None,
            unfit=None, synchronize=None, seconds=None, arrays=None):
    """Adds a kernel for an operation of assay, or of this script, by the name of the function. Also a decorator.

    unfit(...) is called by the names of fields, and returns why the kernel cannot run a problem, or None. seconds()
    returns the time of all calls since the last question, by a clock of its own. synchronize() waits for work that the
    calls started."""
    def add(f):
        own = name or _name_of(f, "function")
        _script.add_kernel(operation, own, f, summary, threaded, libraries, precision, unfit, synchronize, seconds,
                           arrays)
        return f
    return add if function is None else add(function)


operation = _script.add_operation


def main(arguments=None):
    """Makes the script a program of assay: reads the command line, and ends the process with the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    script = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    anew = [sys.executable, script] if os.path.isfile(script) else None  # else copies of this process do
    # UCX, which PyTorch may bring, changes functions of the C library as it is loaded: asked not to, it does not.
    if anew and "UCX_MEM_EVENTS" not in os.environ and "/libucm." in open("/proc/self/maps").read():
        os.execve(sys.executable, anew + given, {**os.environ, "UCX_MEM_EVENTS": "n"})
    try:
        code = _script.run(given, anew)
    except AssayError as reason:
        print(f"assay: {reason}", file=sys.stderr)
        code = 2
    sys.stdout.flush()
    sys.exit(code)


class Comparison:
    """The result of compare(): `word` ("same", "faster", "slower", "undecided", "wrong", ...), how many times as long a
    call of the second function takes (`ratio`, within `low` and `high`), and `text`, the report."""

    def __init__(self, word, ratio, low, high, text, data):
        self.word, self.ratio, self.low, self.high, self.text, self.data = word, ratio, low, high, text, data

    def __repr__(self):
        figures = "" if self.ratio is None else f" ratio={self.ratio:.4g} [{self.low:.4g}, {self.high:.4g}]"
        return f"<assay.Comparison {self.word}{figures}>"


def _in_child(function, name):
    """Calls the function in a copy of this process, so that its threads stay there, and returns its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            answer = pickle.dumps((True, function()))
        except BaseException as reason:
            answer = pickle.dumps((False, _text_of(reason)))
        with os.fdopen(write, "wb") as file:
            file.write(answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    if not answer:
        raise AssayError(f"{name} ended its process")
    passed, value = pickle.loads(answer)
    if not passed:
        raise AssayError(f"{name} raised {value}")
    return value


class _Refused(Exception):
    """A result that cannot be compared. The text names its type."""


def _plain(array):
    """The array in a type of ours: truth values and narrow integers widened, complex numbers as pairs."""
    kind = str(array.dtype).split(".")[-1]
    wider = {"bool": "uint8", "int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}.get(kind)
    is_torch = type(array).__module__.split(".")[0] == "torch"
    if wider is not None:
        return array.to(getattr(sys.modules["torch"], wider)) if is_torch else array.astype(wider)
    if kind in ("complex64", "complex128"):
        return sys.modules["torch"].view_as_real(array) if is_torch else \
            array.reshape(-1).view("float32" if kind == "complex64" else "float64")
    return array


class _Leaves:
    """The parts of a result in order: its form as a text, its arrays, its numbers with their types, and digests of its
    texts. Equal forms have parts that can be compared one by one."""

    def __init__(self, result):
        self.arrays, self.numbers, self.types, self.texts = [], [], [], []
        self.form = self._form_of(result)

    def _number(self, one, kind):
        self.numbers.append(one)
        self.types.append(kind)
        return "number"

    def _form_of(self, one):
        if one is None:
            return "None"
        if isinstance(one, str) or (isinstance(one, int) and not -2**63 <= one < 2**63):
            digest = hashlib.blake2b(repr(one).encode(errors="surrogatepass"), digest_size=8).digest()
            self.texts.append(int.from_bytes(digest, "little", signed=True))
            return type(one).__name__ if isinstance(one, str) else "large int"
        if isinstance(one, (int, float)):
            return self._number(one, "f64" if isinstance(one, float) else "i64")
        if isinstance(one, complex):
            return f"complex {self._number(one.real, 'f64')} {self._number(one.imag, 'f64')}"
        if isinstance(one, dict):
            items = sorted(one.items(), key=lambda item: repr(item[0]))
            return "{" + ", ".join(f"{key!r}: {self._form_of(value)}" for key, value in items) + "}"
        if isinstance(one, (set, frozenset)):
            return "{" + ", ".join(map(repr, sorted(one, key=repr))) + "}"
        if isinstance(one, (list, tuple)):
            forms = [(form, len(list(same))) for form, same in itertools.groupby(map(self._form_of, one))]
            inside = ", ".join(form if count == 1 else f"{form} x {count}" for form, count in forms)
            return f"[{inside}]" if isinstance(one, list) else f"({inside})"
        if hasattr(one, "dtype") and hasattr(one, "shape"):
            one = _plain(one)
        kind = _kind_of(one)
        if kind is not None and kind[1] == () and kind[0] in (F16, F32, F64, I32, I64, U8):
            return self._number(one.item(), {F16: "f16", F32: "f32", F64: "f64"}.get(kind[0], "i64"))
        if kind is None or kind[0] is None:
            of = f" of {one.dtype}" if kind is not None and hasattr(one, "dtype") else ""
            raise _Refused(f"returned a {type(one).__name__}{of}, which cannot be compared: return numbers, texts, "
                           "arrays, or lists, tuples, dicts and sets of these")
        self.arrays.append(one)
        return "array"


def _kind_of(array):
    """The type of an array's elements, and its extents; None of what is no array."""
    if hasattr(array, "dtype") and hasattr(array, "shape"):
        is_torch = type(array).__module__.split(".")[0] == "torch"
        kinds = {n: t for t, n in (_TORCH if is_torch else _NUMPY).items()}
        return kinds.get(str(array.dtype).split(".")[-1]), tuple(array.shape)
    try:
        view = memoryview(array)
    except TypeError:
        return None
    kinds = {f: t for t, f in _FORMATS.items()}
    return kinds.get({"l": "q"}.get(view.format, view.format)), tuple(view.shape)


def compare(f, g, *arguments, limit=None, budget=30.0, relative=0.0, absolute=0.0, seed=42, quiet=False):
    """Is g faster or slower than f, and does it compute the same? Both are called with arguments like these.

    Arrays among the arguments show types and shapes: their contents are drawn anew, floating-point numbers from
    [-1, 1), integers from those that are there. Other arguments are handed over as they are. Results are compared
    with those of f: arrays and floats by the tolerances of torch.testing.assert_close unless given, integers, texts and
    the form of lists, tuples, dicts and sets exactly. Other types are refused by name. f and g run in processes of their
    own that take turns, as builds do in `assay gate`; start no threads before, of a library that cannot bear a fork.

    Returns a Comparison. Raises AssayError where nothing can be compared."""
    if not callable(f) or not callable(g):
        raise AssayError("compare(f, g, ...): both are to be functions")
    kinds = [_kind_of(a) for a in arguments]
    for i, kind in enumerate(kinds):
        if kind is not None and kind[0] is None:
            raise AssayError(f"argument {i} of compare() is an array of a type that is not known here")
    is_torch = any(type(a).__module__.split(".")[0] == "torch" for a in arguments)
    arrays = "torch" if is_torch else None
    places = [i for i, kind in enumerate(kinds) if kind is not None]

    def shape_of(function):
        try:
            leaves = _Leaves(function(*arguments))
        except _Refused as reason:
            return str(reason)
        return leaves.form, [_kind_of(a) for a in leaves.arrays], leaves.types, len(leaves.texts)

    called_as = [_name_of(function, place) for function, place in ((f, "first"), (g, "second"))]
    if called_as[1] in (called_as[0], "naive"):  # the name of the reference
        called_as[1] += "_again" if f is g else "_second"
    shape = _in_child(lambda: shape_of(f), called_as[0])
    try:
        other = _in_child(lambda: shape_of(g), called_as[1])
    except AssayError:  # the gate says how it ends
        other = shape
    for one, name in ((shape, called_as[0]), (other, called_as[1])):
        if isinstance(one, str):
            raise AssayError(f"{name} {one}")
    form, kept, types, texts = shape
    if other[0] != form:
        text = f"WRONG: {called_as[1]} returned {other[0][:200]}, and {called_as[0]} {form[:200]}\n"
        if not quiet:
            print(text, end="")
        return Comparison("wrong", None, None, None, text, {})
    names = {t: n for n, t in _TYPES.items()}

    def describe(n):
        out = {}
        for i in places:
            kind, extents = kinds[i]
            limits = ()
            if kind in (I32, I64, U8):
                flat = arguments[i].reshape(-1) if hasattr(arguments[i], "reshape") else arguments[i]
                numbers = [int(x) for x in flat]
                limits = ((min(numbers, default=0), max(numbers, default=0)),)
            out[f"argument{i}"] = (names[kind], "input", extents or (1,), *limits)
        if not out:
            out["call"] = ("f32", "input", (1,))
        for i, (kind, extents) in enumerate(kept):
            out[f"result{i}"] = (names[kind], "output", extents or (1,))
        for kind in sorted(set(types)):
            out[f"numbers_{kind}"] = (kind, "output", (types.count(kind),))
        if texts:
            out["digests"] = ("i64", "output", (texts,))
        if not kept and not types and not texts:  # its form says all
            out["done"] = ("u8", "output", (1,))
        return out

    def call(function, tensors):
        given = list(arguments)
        for i in places:
            argument = tensors[f"argument{i}"]
            given[i] = argument if kinds[i][1] else argument.reshape(())
        back = _Leaves(function(*given))
        if back.form != form:
            raise ValueError(f"returned {back.form[:200]}, and {called_as[0]} {form[:200]}")
        for i, one in enumerate(back.arrays):
            _copy(one, tensors[f"result{i}"], f"result {i}")
        for kind in set(types):
            for i, number in enumerate(n for n, of in zip(back.numbers, types) if of == kind):
                if kind == "i64" and number != int(number):
                    raise ValueError(f"returned {number}, and {called_as[0]} an integer")
                tensors[f"numbers_{kind}"][i] = int(number) if kind == "i64" else number
        for i, digest in enumerate(back.texts):
            tensors["digests"][i] = digest
        if "done" in tensors:
            tensors["done"][0] = 1

    def reference(**tensors):
        for i in places:  # f is written for its own types, and not for float64
            argument = tensors[f"argument{i}"]
            convert = getattr(argument, "astype", None) or getattr(argument, "to", None)
            if convert is not None and hasattr(arguments[i], "dtype"):
                tensors[f"argument{i}"] = convert(arguments[i].dtype)
        call(f, tensors)

    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_char_p

    def of_this_side(**tensors):
        call(g if libc.getenv(b"ASSAY_SIDE") == called_as[1].encode() else f, tensors)

    program = _Program()
    program.add_operation("compare", about="two Python functions", fields={"n": (1, 1, 1)}, describe=describe,
                          reference=reference, cases=["n=1"], relative=relative, absolute=absolute, arrays=arrays)
    program.add_kernel("compare", called_as[1], of_this_side, "the one that is compared", arrays=arrays)
    with tempfile.TemporaryDirectory(prefix="assay") as folder:
        found, said = os.path.join(folder, "r.json"), os.path.join(folder, "text")
        command = ["gate", "--base", "@" + called_as[0], "--head", "@" + called_as[1], "-s", "compare/n=1",
                   "-k", f"compare/{called_as[1]}", "--threads", "1", "--budget", str(budget), "--seed", str(seed),
                   "--json", found]
        if limit is not None:
            command += ["--limit", str(limit)]
        # The report is written by C: it goes to a file, by the descriptors.
        sys.stdout.flush()
        sys.stderr.flush()
        with open(said, "wb") as file:
            before = os.dup(1), os.dup(2)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            try:
                code = program.run(command, None)
            finally:
                for kept_descriptor, number in zip(before, (1, 2)):
                    os.dup2(kept_descriptor, number)
                    os.close(kept_descriptor)
        with open(said, encoding="utf-8", errors="replace") as file:
            # The command that repeats it would need this process.
            text = "".join(line for line in file if not line.startswith("next:"))
        if code == 128 + signal.SIGINT:
            raise KeyboardInterrupt
        if not os.path.exists(found):
            raise AssayError(text.strip() or f"the comparison ended with exit code {code}")
        with open(found, encoding="utf-8") as file:
            data = json.load(file)
    verdicts = [v for v in data.get("verdicts", []) if v["key"].startswith(f"compare/{called_as[1]}/")]
    if not verdicts:
        raise AssayError(text.strip())
    if not quiet:
        print(text, end="")
    ratio = verdicts[0]["ratio"] if verdicts[0]["ratio"]["coverage"] > 0 else {}
    return Comparison(verdicts[0]["standing"], ratio.get("middle"), ratio.get("low"), ratio.get("high"), text, data)


def _name_of(function, otherwise):
    """The name of a function, in letters that names of variants have."""
    name = re.sub(r"[^a-z0-9_]", "_", getattr(function, "__name__", "").lower()).strip("_")
    return otherwise if name in ("", "lambda") else name


_loops = {}  # that were timed in this process, by the file that they leave
_steps_file = [0, -1]  # the process that opened $ASSAY_STEPS, and its descriptor
_MOST_STEPS = 10000


def timed(loader, phase="training", path="job.json", replay=False, sync=None):
    """Times the steps of the loop `for batch in assay.timed(loader):`, and how long each waits for its batch.

    Leaves `path`, which `assay predict` reads, when the loop ends or is left, and now and then before: seconds of its
    first 10,000 steps and of their waits, and the processor time of this process and its children. `phase="validation"`
    adds a loop over a validation set to that file. With `replay` the first eight batches are repeated, so that nothing
    is loaded. `sync()` is called after each step, torch.cuda.synchronize for one. The loader is any iterable; an epoch
    is what it yields, by its length, or as counted where a loop ran to its end. Where $ASSAY_STEPS names a file, each
    step adds a line to it, for `assay tune command` and `assay predict --watch`.

    Raises AssayError for an unknown phase, and OSError where a file cannot be written."""
    if phase not in ("training", "validation"):
        raise AssayError(f"phase={phase!r} is not known: training or validation")
    return _Timed(loader, phase, os.path.abspath(path), replay, sync or (lambda: None))


def _clocks():
    """Seconds: now, of processors that this process used, its descendants, anybody; and that the host took."""
    tick, used = os.sysconf("SC_CLK_TCK"), os.times()
    parents, times = {}, {}
    for name in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(name, encoding="utf-8", errors="replace") as file:
                state = file.read().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        process = int(name.split("/")[2])
        parents[process], times[process] = int(state[1]), sum(map(int, state[11:15])) / tick
    family = [os.getpid()]
    for process in family:  # workers of a fork server are children of that
        family += [child for child, parent in parents.items() if parent == process]
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(x) / tick for x in file.readline().split()[1:9]]
    return (time.perf_counter(), sum(used[:2]), sum(used[2:4]) + sum(times[process] for process in family[1:]),
            sum(ticks) - ticks[3] - ticks[4] - ticks[7], ticks[7])


def _samples_of(batch):
    """Its first extent, by its first tensor; None where nothing tells."""
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (tuple, list)) and batch:
        first = batch[0]
        return _samples_of(first) if hasattr(first, "shape") or isinstance(first, (dict, tuple, list)) else len(batch)
    return batch.shape[0] if getattr(batch, "shape", None) else None


class _Timed:
    """One loop: its steps, and what is known of its loader."""

    def __init__(self, loader, phase, path, replay, sync):
        self._loader, self._phase, self._path, self._replay, self._sync = loader, phase, path, replay, sync
        self._length = operator.length_hint(loader)  # 0 of a generator, and of a data set that is one

    def __len__(self):
        return len(self._loader)

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def _epoch(self, loop):
        """Its samples, 0 where nobody knows. A sampler may draw fewer than the data set has, or more."""
        steps, batch = loop["count"] if loop["ended"] else self._length, loop["batch"]
        drops = self._phase == "training" and getattr(self._loader, "drop_last", False)
        known = [getattr(self._loader, name, None) for name in ("sampler", "dataset")]
        for size in [*map(operator.length_hint, known), loop["samples"]]:
            if steps and (size if drops else size + batch - 1) // batch == steps:
                return size
        return steps * batch

    def _batches(self):
        batches = iter(self._loader)
        if not self._replay:
            return batches
        kept = list(itertools.islice(batches, 8))
        left = range(self._length) if self._length else itertools.chain(kept, batches)
        return (batch for batch, _ in zip(itertools.cycle(kept), left))

    def __iter__(self):
        loops = _loops.setdefault(self._path, [])
        kept = sum(len(one["steps"]) for one in loops)
        for one in loops:  # the oldest steps go, so that the file stays small
            if kept > _MOST_STEPS:
                kept -= len(one["steps"])
                one["steps"], one["loads"] = [], []
        loop = {"of": self, "steps": [], "loads": [], "count": 0, "samples": 0, "batch": 0, "ended": False,
                "before": _clocks(), "used": None, "whole": 0.0}
        loops.append(loop)
        start = time.perf_counter()
        try:
            for number, batch in enumerate(self._batches()):
                if self._replay:  # reading what is repeated is no part of the loop
                    start = time.perf_counter()
                load = time.perf_counter() - start
                samples = _samples_of(batch) or getattr(self._loader, "batch_size", None) or 1
                loop["batch"] = max(loop["batch"], samples)
                known = len(loops)
                yield batch
                self._sync()
                now = time.perf_counter()
                # A validation inside a step is a phase of its own.
                step = now - start - sum(other["whole"] for other in loops[known:])
                loop["count"], loop["samples"] = number + 1, loop["samples"] + samples
                if number < _MOST_STEPS:
                    loop["steps"].append(step)
                    loop["loads"].append(load)
                self._tell(number, step, load, samples, loop)
                if number + 1 in (30, 100, 300, 1000, 3000, _MOST_STEPS):
                    _write_job(self._path, loops, loop)
                start = time.perf_counter()  # its own notes are no part of a step
                loop["whole"] += step + start - now
            loop["ended"] = True
        finally:
            now = time.perf_counter()
            _write_job(self._path, loops, loop)
            loop["whole"] += time.perf_counter() - now

    def _tell(self, number, step, load, samples, loop):
        path = os.environ.get("ASSAY_STEPS")
        if path and _steps_file[0] != os.getpid():
            _steps_file[:] = os.getpid(), _opened(path)
        if path and _steps_file[1] >= 0:
            workers = getattr(self._loader, "num_workers", 0)
            os.write(_steps_file[1], f"{number},{step:.9f},{load:.9f},{samples},{self._phase},{os.getpid()},"
                                     f"{self._epoch(loop)},{workers}\n".encode())


def _opened(path):
    """$ASSAY_STEPS, emptied and with its header; -1 while another process writes it, whose lines stay."""
    steps = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(steps, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(steps)
        print(f"assay: {path} of ASSAY_STEPS is written by another process, and has no steps of process {os.getpid()}: "
              "give each a file of its own", file=sys.stderr)
        return -1
    except OSError:  # a file system without locks
        pass
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
    os.write(steps, b"step,step_s,load_s,samples,phase,process,train,workers\n")
    return steps


def _write_job(path, loops, now):
    """Writes what the loops found so far, of which one has just ended, or goes on."""
    now["used"] = [after - before for before, after in zip(now["before"], _clocks())] + [now["count"]]
    training = [one for one in loops if one["of"]._phase == "training" and one["batch"]]
    validation = [one for one in loops if one["of"]._phase == "validation" and one["steps"]]
    if not training and not validation:
        return
    job = {"schema": "assay.job/1", "job": os.path.basename(sys.argv[0]) or "training", "dataset": {}, "phases": {},
           "windows": [{"first_step": 0, "run": run, "step_seconds": one["steps"]}
                       for run, one in enumerate(training) if one["steps"]]}
    for one in training[-1:]:
        loader = one["of"]._loader
        known = [samples for samples in (other["of"]._epoch(other) for other in training) if samples]
        job["dataset"] = {"batch": one["batch"], "drop_last": bool(getattr(loader, "drop_last", False)),
                          **({"train": known[-1]} if known else {})}
        job["loader"] = {"workers": getattr(loader, "num_workers", 0),
                         "prefetch": getattr(loader, "prefetch_factor", None) or 2,
                         "in_order": bool(getattr(loader, "in_order", True))}
    if job["windows"]:
        job["phases"]["load"] = {"kind": "load", "seconds": sum((one["loads"] for one in training), [])}
    measured = [one["used"] for one in training if one["used"] and one["used"][-1]]
    if measured:
        wall, own, workers, busy, taken, steps = map(sum, zip(*measured))
        of_all = wall * (os.cpu_count() or 1)
        job["weather"] = {"seconds": wall, "other_busy_share": min(1, max(0, (busy - own - workers) / of_all)),
                          "steal_share": min(1, max(0, taken / of_all))}
        job["cores"] = len(os.sched_getaffinity(0))
        job["processor_seconds"] = (own + workers) / steps
        if job["loader"]["workers"]:
            job["worker_processor_seconds"] = workers / steps
    if validation:
        # A batch of validation counts as one of training, whatever its size.
        share = [training[-1]["batch"] / one["batch"] if training else 1 for one in validation]
        job["phases"]["validation"] = {"kind": "compute", "scope": "validation", "seconds": [
            step * by for one, by in zip(validation, share) for step in one["steps"]]}
        job["dataset"]["validation"] = validation[-1]["of"]._epoch(validation[-1])
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(job, file)
    os.replace(path + ".part", path)


if __name__ == "__main__":
    # `python3 -m assay ...` is the program itself.
    main()
