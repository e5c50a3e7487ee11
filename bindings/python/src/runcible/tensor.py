"""Tensors and ops, for computing without a model."""

from __future__ import annotations

import json
import math
import operator
import struct
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Tuple

from . import native as _native
from ._current import current as _current
from ._dtypes import dtype_name, dtype_number
from ._handle import Closable, chosen, need, set_options
from ._native import TensorBase, tensor_ready
from .backend import Backend
from .errors import UnsupportedError

if TYPE_CHECKING:
    import numpy

#: Types that NumPy has as well, by NumPy's names.
_NUMPY = {
    "f32": "float32",
    "f16": "float16",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}
_OF_NUMPY = {numpy_name: name for name, numpy_name in _NUMPY.items()}

#: The dimension of a reduction over all dimensions.
_ALL = -(2**31)

Pair = Tuple[int, int]


class Tensor(TensorBase, Closable):
    # :header: tensor.h
    __slots__ = ()

    def __init__(
        self,
        data: object,
        backend: Backend,
        *,
        dtype: Optional[str] = None,
        copy: bool = True,
    ) -> None:
        """Makes a tensor of the numbers of a NumPy array, or of an object that
        converts to one.

        An object that supports DLPack, with its numbers on the host, is also
        accepted. The numbers are copied to the backend's device. `dtype` stores
        them in another type; see quantize.

        With `copy=False` the tensor shares the memory of the array, which it keeps:
        later ops read what is written to the array, and `into` writes to the array.
        The backend must be cpu or reference, and the array contiguous, aligned,
        writable and in the machine's byte order. ValueError states which condition
        the array does not meet; UnsupportedError: the device cannot share memory.
        """
        import numpy

        handle = need(backend, Backend, "backend")
        if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
            data = numpy.from_dlpack(data)
        if copy:
            array = numpy.ascontiguousarray(data)
            array = array.astype(array.dtype.newbyteorder("="), copy=False)
        else:
            array = _lendable(data)
        if array.dtype.name not in _OF_NUMPY:
            raise TypeError(
                f"numbers of {array.dtype.name} are not known, "
                f"but those of {', '.join(_OF_NUMPY)}"
            )
        number = dtype_number(_OF_NUMPY[array.dtype.name])
        memory = (array.__array_interface__["data"][0], array.nbytes)
        if copy:
            # The address is valid because `array` is held during the call.
            self._proxy = _native.tensor_from_data(
                handle, number, array.shape, memory
            )
        else:
            self._proxy = _native.tensor_borrow(
                handle, number, array.shape, memory, array
            )
        self._backend = backend
        self._recording = None
        if dtype is not None and dtype != self.dtype:
            self._proxy = _native.op_quantize(self._proxy, dtype_number(dtype))

    @classmethod
    def _of(cls, proxy: Any, backend: Backend) -> Tensor:
        made = cls.__new__(cls)
        made._proxy = proxy
        made._backend = backend
        made._recording = None
        return made

    def _made(self, proxy: Any) -> Tensor:
        """Returns the tensor of an op's result on this tensor."""
        made = self._of(proxy, self._backend)
        recording = _current.get()
        if recording is not None:
            recording.add(made)
        return made

    @property
    def _own(self) -> Any:
        """The handle for properties that do not depend on the numbers."""
        return super()._handle

    @property
    def _numbers(self) -> Any:
        """The handle to read from; recorded ops are computed now."""
        if self._recording is not None:
            self._recording.compute()
        return self._own

    @property
    def _handle(self) -> Any:
        """The handle as an operand: while a graph is recorded, the graph's handle
        for this tensor."""
        recording = _current.get()
        if recording is not None:
            return recording.operand(self)
        if self._recording is not None:
            self._recording.compute()
        return self._own

    @classmethod
    def from_bytes(
        cls, data: bytes, shape: Sequence[int], dtype: str, backend: Backend
    ) -> Tensor:
        # :header: rc_tensor_from_data
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, not {type(data).__name__}")
        handle = need(backend, Backend, "backend")
        return cls._of(
            _native.tensor_from_data(handle, dtype_number(dtype), shape, data),
            backend,
        )

    @classmethod
    def arange(
        cls,
        start: float,
        stop: Optional[float] = None,
        step: float = 1,
        *,
        backend: Backend,
        dtype: str = "f32",
    ) -> Tensor:
        # :header: rc_tensor_arange
        if stop is None:
            start, stop = 0, start
        made = _native.tensor_arange(
            need(backend, Backend, "backend"),
            dtype_number(dtype),
            start,
            stop,
            step,
        )
        return cls._of(made, backend)

    # :api: makers

    @property
    def dtype(self) -> str:
        """The type of the elements: "f32", "q4_k"."""
        return dtype_name(_native.tensor_dtype(self._own))

    @property
    def shape(self) -> Tuple[int, ...]:
        """The dimensions, slowest first."""
        shape: Tuple[int, ...] = _native.tensor_shape(self._own)
        return shape

    @property
    def size(self) -> int:
        """The number of elements."""
        elements: int = _native.tensor_size(self._own)[0]
        return elements

    @property
    def nbytes(self) -> int:
        """The size of the numbers in bytes."""
        count: int = _native.tensor_size(self._own)[1]
        return count

    @property
    def device(self) -> str:
        # :header: rc_tensor_device
        name: str = _native.tensor_device(self._handle)
        return name

    def to(
        self, device_id: str = "", backend: Optional[Backend] = None
    ) -> Tensor:
        # :header: rc_tensor_to
        if backend is None:
            moved = _native.tensor_to(self._handle, None, device_id)
            return self._of(moved, self._backend)
        other = need(backend, Backend, "backend")
        return self._of(
            _native.tensor_to(self._handle, other, device_id), backend
        )

    def choice(self) -> Dict[str, Any]:
        # :header: rc_op_choose
        made: Dict[str, Any] = json.loads(_native.op_choose(self._handle))
        return made

    def read(self) -> bytearray:
        # :header: rc_tensor_read
        handle = self._numbers
        numbers: bytearray = _native.tensor_read(
            handle, _native.tensor_size(handle)[1]
        )
        return numbers

    def numpy(
        self, *, copy: bool = True, out: Optional[Any] = None
    ) -> numpy.ndarray[Any, Any]:
        """The numbers as a NumPy array, which the device writes directly.

        `out`: the array, of the same type and shape; see pinned.

        Types that NumPy does not have are decoded to float32. With `copy=False` the
        array shares the memory of the tensor, which it keeps, on cpu and reference:
        what is written to either is in both. ValueError states why this tensor can
        only be copied, UnsupportedError why a device can only copy.
        """
        import numpy

        if out is not None:
            return _read_into(self, out)
        if not copy:
            return numpy.asarray(_Memory(self))
        if self.dtype not in _NUMPY:
            numbers = self._of(_native.op_dequantize(self._numbers), self._backend)
            return numbers.numpy()
        kind = numpy.dtype(_NUMPY[self.dtype])
        return numpy.frombuffer(self.read(), kind).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        array = self.numpy(copy=copy is not False)
        if dtype is None or array.dtype == dtype:
            return array
        if copy is False:
            raise ValueError("numbers of another type are a copy")
        return array.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        copy = options.pop("copy", None)
        if not copy:
            try:
                return self.numpy(copy=False).__dlpack__(**options)
            except (ValueError, UnsupportedError) as error:
                if copy is False:
                    raise BufferError(str(error)) from error
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)  # the numbers are exported on the host

    # Views and ops.

    @staticmethod
    def concat(tensors: Sequence[Tensor], dimension: int = 0) -> Tensor:
        # :header: rc_op_concat
        operands = [need(each, Tensor, "tensors") for each in tensors]
        if not operands:
            raise ValueError("tensors: the list is empty")
        return tensors[0]._made(_native.concat(operands, dimension))

    # :api: ops

    # TensorBase implements the operators and the most frequent of the ops above.

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"a tensor of {self.size} elements is neither true nor false; "
                "those of one element are"
            )
        return bool(self.numpy().reshape(-1)[0])

    def _number(self, number: float) -> Tensor:
        """Returns a number as an operand for an op with this tensor."""
        kind = {"f64": "d", "f16": "e"}.get(self.dtype, "f")
        dtype = {"d": "f64", "e": "f16"}.get(kind, "f32")
        made = self.from_bytes(
            _packed(kind, float(number)), (1,), dtype, self._backend
        )
        if self.dtype == "bf16":
            made._proxy = _native.op_quantize(made._proxy, dtype_number("bf16"))
        return made

    def _said(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


def from_dlpack(
    x: Any, backend: Backend, *, copy: Optional[bool] = None
) -> Tensor:
    """Makes a tensor of an object that supports DLPack, with its numbers on the host.

    `copy`: False shares the memory of `x`, see Tensor, or raises with the reason;
    True copies; None shares it if possible.
    """
    import numpy

    array = numpy.from_dlpack(x)
    if copy is None:
        try:
            return Tensor(array, backend, copy=False)
        except (ValueError, UnsupportedError):
            copy = True
    return Tensor(array, backend, copy=copy)


def pinned(
    shape: Sequence[int],
    backend: Backend,
    *,
    dtype: str = "f32",
    device_id: str = "",
) -> numpy.ndarray[Any, Any]:
    """Makes an array of zeros in memory that a device transfers to and from directly.

    Tensor(array, backend) and tensor.numpy(out=array) need no copy in between.
    `device_id` is a device that the backend chooses among, as in Tensor.to; "": the
    device of its new tensors. The memory is freed with the array and its views.
    """
    import numpy

    if dtype not in _NUMPY:
        raise ValueError(f"NumPy has no {dtype}")
    kind = numpy.dtype(_NUMPY[dtype])
    count = math.prod(operator.index(each) for each in shape)
    room = max(count * kind.itemsize, 1)
    memory = _Pinned(need(backend, Backend, "backend"), device_id, room)
    whole = numpy.asarray(memory)
    return whole[: count * kind.itemsize].view(kind).reshape(tuple(shape))


class _Pinned:
    """The base of a NumPy array: bytes of pinned memory, which it keeps."""

    def __init__(self, backend: Any, device_id: str, room: int) -> None:
        self._proxy = _native.pinned_make(backend, device_id, room)
        self.__array_interface__ = {
            "shape": (room,),
            "typestr": "|u1",
            "data": (_native.pinned_address(self._proxy), False),
            "version": 3,
        }


class _Memory:
    """The base of a NumPy array: the memory of a tensor, which it keeps."""

    def __init__(self, tensor: Tensor) -> None:
        import numpy

        if tensor.dtype not in _NUMPY:
            raise ValueError(
                f"NumPy has no {tensor.dtype}; numpy() decodes a copy"
            )
        handle = tensor._numbers
        self._proxy = handle
        self.__array_interface__ = {
            "shape": tensor.shape,
            "typestr": numpy.dtype(_NUMPY[tensor.dtype]).str,
            # NumPy requires an address even for no numbers.
            "data": (_native.tensor_address(handle) or 1, False),
            "version": 3,
        }


def _lendable(data: object) -> numpy.ndarray[Any, Any]:
    """Returns an array whose memory a tensor can share."""
    import numpy

    array = numpy.asarray(data)
    if isinstance(data, numpy.ndarray) or hasattr(data, "__array__"):
        missing = [
            what
            for what, there in (
                ("contiguous", array.flags.c_contiguous),
                ("aligned", array.flags.aligned),
                ("writable", array.flags.writeable),
                ("in the machine's byte order", array.dtype.isnative),
            )
            if not there
        ]
        if not missing:
            return array
        raise ValueError(
            f"data: the array is not {' and not '.join(missing)}; "
            "its memory cannot be shared, copy it"
        )
    raise ValueError(
        f"data: {type(data).__name__} is not an array whose memory could be shared"
    )


def _read_into(tensor: Tensor, out: Any) -> numpy.ndarray[Any, Any]:
    array = _lendable(out)
    kind = _OF_NUMPY.get(array.dtype.name)
    if kind != tensor.dtype or array.shape != tensor.shape:
        raise ValueError(
            f"out is {array.dtype.name} {list(array.shape)}, "
            f"the tensor {tensor.dtype} {list(tensor.shape)}"
        )
    memory = (array.__array_interface__["data"][0], array.nbytes)
    _native.tensor_read_into(tensor._numbers, memory)
    return array


def _optional(tensor: Optional[Tensor], name: str) -> Any:
    return None if tensor is None else need(tensor, Tensor, name)


def _packed(kind: str, number: float) -> bytes:
    """Packs a number; one beyond the range of its type becomes infinite."""
    try:
        return struct.pack(kind, number)
    except OverflowError:
        return struct.pack(kind, math.copysign(math.inf, number))


def _with_number(method: str, a: Any, b: Any) -> Tensor:
    """Computes an op with one operand that is a number."""
    if isinstance(a, Tensor):
        b = a._number(b)
    else:
        a = b._number(a)
    made: Tensor = getattr(a, method)(b)
    return made


#: Devices whose ops run without waiting for other threads.
_PLAIN = ("cpu:0", "reference:0")


def _is_plain(tensor: Tensor) -> bool:
    """Returns whether small ops on the tensor take less time than a thread switch."""
    backend = tensor._backend
    if backend._alone is None and not backend.closed:
        backend._alone = backend.explain()["tensors"] is None
    return backend._alone is True and tensor.device in _PLAIN


tensor_ready(Tensor, _is_plain, _with_number)
