"""Tensors and ops, for those who compute without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple, Union

from . import native as _native
from ._docs import documented
from ._dtypes import dtype_name, dtype_number
from ._handle import Handle, need, set_options
from .backend import Backend

if TYPE_CHECKING:
    import numpy

#: Types that NumPy has too, under other names.
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

_FUNCTIONS = {
    name[len("FUNCTION_"):].lower(): number
    for name, number in vars(_native).items()
    if name.startswith("FUNCTION_")
}
_STYLES = {"adjacent": _native.ROPE_ADJACENT, "halves": _native.ROPE_HALVES}

#: As the dimension of a reduction: all of them.
_ALL = -(2**31)

Pair = Tuple[int, int]


def _chosen(choices: Any, name: str, value: str) -> Any:
    if value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(choices)}, not {value!r}"
        )
    return choices[value]


@documented("tensor.h")
class Tensor(Handle):
    __slots__ = ()

    def __init__(
        self, data: object, backend: Backend, *, dtype: Optional[str] = None
    ) -> None:
        """A tensor of the numbers of a NumPy array or what becomes one.

        That is also what speaks DLPack, with its numbers on the host. They are
        copied to the backend's device. `dtype` stores them in another type;
        see quantize.
        """
        import numpy

        handle = need(backend, Backend, "backend")
        if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
            data = numpy.from_dlpack(data)
        array = numpy.ascontiguousarray(data)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        if array.dtype.name not in _OF_NUMPY:
            raise TypeError(
                f"numbers of {array.dtype.name} are not known, "
                f"but those of {', '.join(_OF_NUMPY)}"
            )
        # The address stays good, for `array` is held during the call.
        self._proxy = _native.tensor_from_data(
            handle,
            dtype_number(_OF_NUMPY[array.dtype.name]),
            array.shape,
            (array.__array_interface__["data"][0], array.nbytes),
        )
        if dtype is not None and dtype != self.dtype:
            self._proxy = _native.op_quantize(self._proxy, dtype_number(dtype))

    @classmethod
    def _of(cls, proxy: Any) -> Tensor:
        made = cls.__new__(cls)
        made._proxy = proxy
        return made

    @classmethod
    @documented("rc_tensor_from_data")
    def from_bytes(
        cls, data: bytes, shape: Sequence[int], dtype: str, backend: Backend
    ) -> Tensor:
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, not {type(data).__name__}")
        handle = need(backend, Backend, "backend")
        return cls._of(
            _native.tensor_from_data(handle, dtype_number(dtype), shape, data)
        )

    @classmethod
    @documented("rc_tensor_create")
    def zeros(
        cls, shape: Sequence[int], backend: Backend, *, dtype: str = "f32"
    ) -> Tensor:
        handle = need(backend, Backend, "backend")
        return cls._of(
            _native.tensor_create(handle, dtype_number(dtype), shape)
        )

    @classmethod
    @documented("rc_tensor_ones")
    def ones(
        cls, shape: Sequence[int], backend: Backend, *, dtype: str = "f32"
    ) -> Tensor:
        handle = need(backend, Backend, "backend")
        return cls._of(_native.tensor_ones(handle, dtype_number(dtype), shape))

    @classmethod
    @documented("rc_tensor_random", "rc_random_options")
    def random(
        cls,
        shape: Sequence[int],
        backend: Backend,
        *,
        seed: Optional[int] = None,
        distribution: str = "normal",
        mean: Optional[float] = None,
        deviation: Optional[float] = None,
        low: Optional[float] = None,
        high: Optional[float] = None,
    ) -> Tensor:
        kinds = {
            "normal": _native.RANDOM_NORMAL,
            "uniform": _native.RANDOM_UNIFORM,
        }
        options = set_options(
            _native.random_options(),
            seed=seed,
            distribution=_chosen(kinds, "distribution", distribution),
            mean=mean,
            deviation=deviation,
            low=low,
            high=high,
        )
        handle = need(backend, Backend, "backend")
        return cls._of(_native.tensor_random(handle, shape, options))

    @property
    def dtype(self) -> str:
        """The type of the elements: "f32", "q4_k"."""
        return dtype_name(_native.tensor_dtype(self._handle))

    @property
    def shape(self) -> Tuple[int, ...]:
        """The dimensions, slowest first."""
        shape: Tuple[int, ...] = _native.tensor_shape(self._handle)
        return shape

    @property
    def size(self) -> int:
        """The number of elements."""
        elements: int = _native.tensor_size(self._handle)[0]
        return elements

    @property
    def nbytes(self) -> int:
        """The bytes that the numbers take in their type."""
        count: int = _native.tensor_size(self._handle)[1]
        return count

    @documented("rc_tensor_read")
    def read(self) -> bytearray:
        handle = self._handle
        numbers: bytearray = _native.tensor_read(
            handle, _native.tensor_size(handle)[1]
        )
        return numbers

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """The numbers as a NumPy array, which the device writes directly.

        Types that NumPy lacks are decoded to float32.
        """
        import numpy

        if self.dtype not in _NUMPY:
            return self.dequantize().numpy()
        kind = numpy.dtype(_NUMPY[self.dtype])
        return numpy.frombuffer(self.read(), kind).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)  # the numbers are given out on the host

    # Views.

    @documented("rc_tensor_reshape")
    def reshape(self, *shape: int) -> Tensor:
        return self._of(_native.tensor_reshape(self._handle, shape))

    @documented("rc_tensor_slice")
    def slice(
        self, dimension: int, begin: int, end: int, step: int = 1
    ) -> Tensor:
        return self._of(
            _native.tensor_slice(self._handle, dimension, begin, end, step)
        )

    @documented("rc_tensor_transpose")
    def transpose(self, dimension: int = -2, other: int = -1) -> Tensor:
        return self._of(
            _native.tensor_transpose(self._handle, dimension, other)
        )

    # Ops.

    @documented("rc_op_matmul")
    def matmul(self, b: Tensor) -> Tensor:
        return self._with(_native.op_matmul, b)

    @documented("rc_op_matmul_transposed")
    def matmul_transposed(self, b: Tensor) -> Tensor:
        return self._with(_native.op_matmul_transposed, b)

    @documented("rc_op_matmul_quantized")
    def matmul_quantized(self, weight: Tensor) -> Tensor:
        return self._with(_native.op_matmul_quantized, weight)

    @documented("rc_op_fused_linear")
    def fused_linear(
        self,
        weight: Tensor,
        bias: Optional[Tensor] = None,
        function: str = "none",
    ) -> Tensor:
        return self._of(
            _native.op_fused_linear(
                self._handle,
                need(weight, Tensor, "weight"),
                _optional(bias, "bias"),
                _chosen(_FUNCTIONS, "function", function),
            )
        )

    @documented("rc_op_add")
    def add(self, b: Tensor) -> Tensor:
        return self._with(_native.op_add, b)

    @documented("rc_op_mul")
    def mul(self, b: Tensor) -> Tensor:
        return self._with(_native.op_mul, b)

    def __matmul__(self, b: Tensor) -> Tensor:
        return self.matmul(b) if isinstance(b, Tensor) else NotImplemented

    def __add__(self, b: Tensor) -> Tensor:
        return self.add(b) if isinstance(b, Tensor) else NotImplemented

    def __mul__(self, b: Tensor) -> Tensor:
        return self.mul(b) if isinstance(b, Tensor) else NotImplemented

    @documented("rc_op_relu")
    def relu(self) -> Tensor:
        return self._of(_native.op_relu(self._handle))

    @documented("rc_op_relu")
    def sigmoid(self) -> Tensor:
        return self._of(_native.op_sigmoid(self._handle))

    @documented("rc_op_relu")
    def silu(self) -> Tensor:
        return self._of(_native.op_silu(self._handle))

    @documented("rc_op_relu")
    def gelu(self) -> Tensor:
        return self._of(_native.op_gelu(self._handle))

    @documented("rc_op_relu")
    def gelu_tanh(self) -> Tensor:
        return self._of(_native.op_gelu_tanh(self._handle))

    @documented("rc_op_relu")
    def gelu_quick(self) -> Tensor:
        return self._of(_native.op_gelu_quick(self._handle))

    @documented("rc_op_relu")
    def tanh(self) -> Tensor:
        return self._of(_native.op_tanh(self._handle))

    @documented("rc_op_softmax")
    def softmax(self, dimension: int = -1) -> Tensor:
        return self._of(_native.op_softmax(self._handle, dimension))

    @documented("rc_op_rms_norm")
    def rms_norm(
        self, weight: Optional[Tensor] = None, epsilon: float = 1e-5
    ) -> Tensor:
        return self._of(
            _native.op_rms_norm(
                self._handle, _optional(weight, "weight"), epsilon
            )
        )

    @documented("rc_op_layer_norm")
    def layer_norm(
        self,
        weight: Optional[Tensor] = None,
        bias: Optional[Tensor] = None,
        epsilon: float = 1e-5,
    ) -> Tensor:
        return self._of(
            _native.op_layer_norm(
                self._handle,
                _optional(weight, "weight"),
                _optional(bias, "bias"),
                epsilon,
            )
        )

    @documented("rc_op_rope", "rc_rope_options")
    def rope(
        self,
        positions: Tensor,
        frequencies: Optional[Tensor] = None,
        *,
        style: str = "adjacent",
        dimensions: Optional[int] = None,
        theta: Optional[float] = None,
        scale: Optional[float] = None,
    ) -> Tensor:
        options = set_options(
            _native.rope_options(),
            style=_chosen(_STYLES, "style", style),
            dimensions=dimensions,
            theta=theta,
            scale=scale,
        )
        return self._of(
            _native.op_rope(
                self._handle,
                need(positions, Tensor, "positions"),
                _optional(frequencies, "frequencies"),
                options,
            )
        )

    @documented("rc_op_attention", "rc_attention_options")
    def attention(
        self,
        k: Tensor,
        v: Tensor,
        *,
        scale: Optional[float] = None,
        softcap: Optional[float] = None,
        causal: Optional[bool] = None,
    ) -> Tensor:
        options = set_options(
            _native.attention_options(),
            scale=scale,
            softcap=softcap,
            causal=causal,
        )
        return self._of(
            _native.op_attention(
                self._handle,
                need(k, Tensor, "k"),
                need(v, Tensor, "v"),
                options,
            )
        )

    @documented("rc_op_reduce_sum")
    def sum(self, dimension: Optional[int] = None, *, keep: bool = False) -> Tensor:
        return self._reduced(_native.op_reduce_sum, dimension, keep)

    @documented("rc_op_reduce_sum")
    def mean(self, dimension: Optional[int] = None, *, keep: bool = False) -> Tensor:
        return self._reduced(_native.op_reduce_mean, dimension, keep)

    @documented("rc_op_reduce_sum")
    def max(self, dimension: Optional[int] = None, *, keep: bool = False) -> Tensor:
        return self._reduced(_native.op_reduce_max, dimension, keep)

    @documented("rc_op_argmax")
    def argmax(self, dimension: Optional[int] = None, *, keep: bool = False) -> Tensor:
        return self._reduced(_native.op_argmax, dimension, keep)

    @documented("rc_op_conv2d", "rc_conv2d_options")
    def conv2d(
        self,
        weight: Tensor,
        bias: Optional[Tensor] = None,
        *,
        stride: Pair = (1, 1),
        padding: Pair = (0, 0),
        dilation: Pair = (1, 1),
        groups: Optional[int] = None,
    ) -> Tensor:
        options = set_options(_native.conv2d_options(), groups=groups)
        options.set_stride(*stride)
        options.set_padding(*padding)
        options.set_dilation(*dilation)
        return self._of(
            _native.op_conv2d(
                self._handle,
                need(weight, Tensor, "weight"),
                _optional(bias, "bias"),
                options,
            )
        )

    @documented("rc_op_gather_rows")
    def gather_rows(self, ids: Tensor) -> Tensor:
        return self._with(_native.op_gather_rows, ids)

    @documented("rc_op_quantize")
    def quantize(self, dtype: str) -> Tensor:
        return self._of(_native.op_quantize(self._handle, dtype_number(dtype)))

    @documented("rc_op_dequantize")
    def dequantize(self) -> Tensor:
        return self._of(_native.op_dequantize(self._handle))

    def _with(self, op: Any, other: Tensor) -> Tensor:
        return self._of(op(self._handle, need(other, Tensor, "the operand")))

    def _reduced(self, op: Any, dimension: Optional[int], keep: bool) -> Tensor:
        which = _ALL if dimension is None else dimension
        return self._of(op(self._handle, which, keep))

    def __repr__(self) -> str:
        if self.closed:
            return "<Tensor, closed>"
        return f"<Tensor {self.dtype} {list(self.shape)}>"


def _optional(tensor: Optional[Tensor], name: str) -> Any:
    return None if tensor is None else need(tensor, Tensor, name)
