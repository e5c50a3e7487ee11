"""The mixers that carry a state, in plain numpy (float64), a token at a time; see plain_forward.py. Each takes the model and the normed rows of a
layer, and gives what is added to the residual."""

import math

import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def convolved(model, x, name):
    """The last tap is that of the present token."""
    kernel = model.W(name + ".weight")
    past = np.concatenate([np.zeros((kernel.shape[1] - 1, x.shape[1])), x])
    y = sum(kernel[:, j] * past[j:j + len(x)] for j in range(kernel.shape[1]))
    return y + model.W(name + ".bias") if name + ".bias" in model.T else y


def short_conv(model, h, p):
    b, c, x = np.split(model.linear(h, p + "shortconv.in_proj"), 3, -1)
    return model.linear(c * convolved(model, b * x, p + "shortconv.conv"), p + "shortconv.out_proj")


def mamba2(model, h, p):
    n, inner, size = model.n, model.key("ssm.inner_size"), model.key("ssm.state_size")
    heads, groups = model.key("ssm.time_step_rank"), model.key("ssm.group_count")
    z, xbc, dt = np.split(model.linear(h, p + "ssm_in"), [inner, 2 * inner + 2 * groups * size], -1)
    x, B, C = np.split(silu(convolved(model, xbc, p + "ssm_conv1d")), [inner, inner + groups * size], -1)
    x = x.reshape(n, heads, -1)
    B, C = (np.repeat(a.reshape(n, groups, size), heads // groups, 1) for a in (B, C))
    step = np.logaddexp(0, dt + model.W(p + "ssm_dt.bias"))  # softplus
    a, D = model.W(p + "ssm_a")[:, 0], model.W(p + "ssm_d")
    state, y = np.zeros((heads, x.shape[2], size)), np.empty_like(x)
    for t in range(n):
        state = np.exp(a * step[t])[:, None, None] * state + (step[t, :, None] * x[t])[:, :, None] * B[t][:, None]
        y[t] = np.einsum("hpn,hn->hp", state, C[t]) + D * x[t]
    y = y.reshape(n, inner) * silu(z)
    if p + "ssm_norm.weight" in model.T:
        y = model.norm(y.reshape(n, groups, -1), p + "ssm_norm").reshape(n, inner)
    return model.linear(y, p + "ssm_out")


def mamba(model, h, p):
    n, size, rank = model.n, model.key("ssm.state_size"), model.key("ssm.time_step_rank")
    x, z = np.split(model.linear(h, p + "ssm_in"), 2, -1)
    x = silu(convolved(model, x, p + "ssm_conv1d"))
    dt, B, C = np.split(model.linear(x, p + "ssm_x"), [rank, rank + size], -1)
    if p + "ssm_dt_norm.weight" in model.T:
        dt, B, C = (model.norm(a, p + f"ssm_{name}_norm") for a, name in ((dt, "dt"), (B, "b"), (C, "c")))
    elif model.key("ssm.dt_b_c_rms"):
        dt, B, C = (a / np.sqrt((a * a).mean(-1, keepdims=True) + model.epsilon) for a in (dt, B, C))
    step = np.logaddexp(0, model.linear(dt, p + "ssm_dt"))
    a, D = model.W(p + "ssm_a"), model.W(p + "ssm_d")
    state, y = np.zeros(a.shape), np.empty_like(x)
    for t in range(n):
        state = np.exp(a * step[t][:, None]) * state + (step[t] * x[t])[:, None] * B[t]
        y[t] = state @ C[t] + D * x[t]
    return model.linear(y * silu(z), p + "ssm_out")


def delta(model, h, p):
    n, inner, size = model.n, model.key("ssm.inner_size"), model.key("ssm.state_size")
    heads, groups = model.key("ssm.time_step_rank"), model.key("ssm.group_count")
    if p + "ssm_in.weight" in model.T:
        parts = np.split(model.linear(h, p + "ssm_in").reshape(n, groups, -1), [size, 2 * size, 2 * size + inner // groups], -1)
        *qkv, gate = (part.reshape(n, -1) for part in parts)
        qkv = np.concatenate(qkv, -1)
    else:
        qkv, gate = model.linear(h, p + "attn_qkv"), model.linear(h, p + "attn_gate")
    qkv = silu(convolved(model, qkv, p + "ssm_conv1d"))
    q, k, v = np.split(qkv, [groups * size, 2 * groups * size], -1)
    if p + "ssm_ba.weight" in model.T:
        rate, step = np.split(model.linear(h, p + "ssm_ba").reshape(n, groups, -1), 2, -1)
        rate, step = rate.reshape(n, heads), step.reshape(n, heads)
        group = np.arange(heads) // (heads // groups)
    else:
        rate, step = model.linear(h, p + "ssm_beta"), model.linear(h, p + "ssm_alpha")
        group = np.arange(heads) % groups
    unit = lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)
    q, k = (unit(x.reshape(n, groups, size))[:, group] for x in (q, k))
    q, v = q / math.sqrt(size), v.reshape(n, heads, -1)
    kept = np.exp(model.W(p + "ssm_a") * np.logaddexp(0, step + model.W(p + "ssm_dt.bias")))
    state, y = np.zeros((heads, v.shape[2], size)), np.empty_like(v)
    for t in range(n):
        state = kept[t][:, None, None] * state
        change = sigmoid(rate[t])[:, None] * (v[t] - np.einsum("hpn,hn->hp", state, k[t]))
        state = state + change[:, :, None] * k[t][:, None]
        y[t] = np.einsum("hpn,hn->hp", state, q[t])
    y = model.norm(y, p + "ssm_norm").reshape(n, inner) * silu(gate)
    return model.linear(y, p + "ssm_out")
