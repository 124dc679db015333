"""Triton kernels for `cargo xtask validate --coverage`: matrix product, softmax and row sum, for several architectures.
Compiles without a GPU: python kernels.py CACHE (needs triton==3.9.0)."""

import os
import sys

os.environ["TRITON_CACHE_DIR"] = sys.argv[1]
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        y = tl.load(b + (k + inner)[:, None] * N + columns[None, :])
        sums += tl.dot(x, y)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def softmax(out, x, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * N + at, mask=at < N, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * N + at, weights / tl.sum(weights, axis=0), mask=at < N)


@triton.jit
def row_sum(out, x, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + row * N + at, mask=at < N, other=0.0)
    tl.store(out + row, tl.sum(sums, axis=0))


ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
POINTERS = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
VECTOR = {"out": "*fp32", "x": "*fp32", "N": "i32"}
KERNELS = [
    (matmul, POINTERS, {"BM": 128, "BN": 128, "BK": 32}, {"num_warps": 8, "num_stages": 3}),
    (matmul, POINTERS, {"BM": 64, "BN": 64, "BK": 64}, {"num_warps": 4, "num_stages": 4}),
    (softmax, VECTOR, {"BLOCK": 1024}, {"num_warps": 4}),
    (softmax, VECTOR, {"BLOCK": 8192}, {"num_warps": 8}),
    (row_sum, VECTOR, {"BLOCK": 1024}, {"num_warps": 4}),
    (row_sum, VECTOR, {"BLOCK": 4096}, {"num_warps": 8}),
]

for capability in ARCHITECTURES:
    for function, types, constants, options in KERNELS:
        signature = types | {name: "constexpr" for name in constants}
        # As the runtime marks arguments that are multiples of 16: without it nothing is loaded 16 bytes at a time.
        aligned = {(number,): [["tt.divisibility", 16]] for number, name in enumerate(types)}
        source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=aligned)
        triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
