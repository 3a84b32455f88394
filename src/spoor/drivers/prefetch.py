"""How machine code asks for memory ahead of its use: most of a large crawl's time is waiting for memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba.core import cgutils as _cgutils
from numba.core import types
from numba.extending import intrinsic

cgutils: Any = _cgutils


def _prefetch(typing_context: Any, array: Any, index: Any) -> tuple[Any, Any]:
    """numba's form of an intrinsic: the signature, and the function that writes LLVM's prefetch instruction."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        values = context.make_array(array_type)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, array_type, values, [arguments[1]])
        address = builder.bitcast(pointer, cgutils.voidptr_t)
        number = cgutils.int32_t
        kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [address.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # To be read (0), kept in all caches (3), data rather than code (1).
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), write


prefetch: Callable[[Any, int], None] = cast(Any, intrinsic)(_prefetch)
"""Bring array[index] near. Nothing happens when there is no such element."""
