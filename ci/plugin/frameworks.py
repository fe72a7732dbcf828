# numpy and PyTorch as variants of operations of this project, checked and timed:
#
#     python3 frameworks.py check -k 'numpy|torch'
#     python3 frameworks.py run layernorm/rows=4096,cols=768 -k 'naive|numpy|torch|avx'
#
# Either may be missing.
import math
import os
import sys

sys.path.insert(0, os.environ.get("ASSAY_PYTHON", ""))
import assay

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
    import torch.nn.functional as nn
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
except ImportError:
    torch = None

# Positions in the field trans of gemm: nn, nt, tn, tt.
A_TURNED, B_TURNED = (2, 3), (1, 3)

# As in the contract, and as PyTorch's defaults are.
RATE, FIRST, SECOND, EPSILON, DECAY = 1e-3, 0.9, 0.999, 1e-8, 1e-2


def only_a_product(alpha, beta):
    return None if alpha == 1 and beta == 0 else "is a product alone: alpha=1, beta=0"


def dense(layout, beta=0):
    return None if layout == 0 and beta == 0 else "is tried on dense operands, and adds to no old z: beta=0"


def window(kernel, kernel_w, stride, dilation, pad, bottom, left, right):
    """Height and width of a window, what borders (left, right, above, below) have more than their opposite ones, and
    strides, other borders and dilations. -1 stands for what is usual."""
    either = lambda given, usual: usual if given < 0 else given
    bottom, left, right = either(bottom, pad), either(left, pad), either(right, pad)
    alike = [min(pad, bottom), min(left, right)]
    more = left - alike[1], right - alike[1], pad - alike[0], bottom - alike[0]
    return (kernel, either(kernel_w, kernel)), more, ([stride, stride], alike, [dilation, dilation])


def numpy_kernels():
    @assay.variant("layernorm", name="numpy", summary="mean and variance by numpy's pairwise sums")
    def layernorm(x, gamma, beta, y, mean, rstd, rows, cols):
        x = x.reshape(rows, cols)
        np.mean(x, axis=1, out=mean)
        distance = x - mean[:, None]
        np.divide(1, np.sqrt(np.mean(distance * distance, axis=1) + np.float32(1e-5)), out=rstd)
        y.reshape(rows, cols)[:] = distance * rstd[:, None] * gamma + beta

    @assay.variant("gemm", name="numpy_matmul", summary="numpy.matmul, by the library that numpy is linked with",
                   unfit=only_a_product)
    def gemm(a, b, c, m, n, k, trans):
        a = a.reshape(k, m).T if trans in A_TURNED else a.reshape(m, k)
        b = b.reshape(n, k).T if trans in B_TURNED else b.reshape(k, n)
        np.matmul(a, b, out=c.reshape(m, n))

    @assay.variant("adamw", name="numpy", summary="one pass of numpy per operation")
    def adamw(g, p, m, v, t):
        p *= np.float32(1 - RATE * DECAY)
        m += np.float32(1 - FIRST) * (g - m)
        v *= np.float32(SECOND)
        v += np.float32(1 - SECOND) * g * g
        root = np.sqrt(v) / np.float32(math.sqrt(1 - SECOND ** t)) + np.float32(EPSILON)
        p -= np.float32(RATE / (1 - FIRST ** t)) * m / root


if torch is not None and hasattr(nn, "scaled_dot_product_attention"):
    def attention_by_torch(q, k, v, causal):
        """torch.nn.functional.scaled_dot_product_attention"""
        return nn.scaled_dot_product_attention(q, k, v, is_causal=causal)
else:
    def attention_by_torch(q, k, v, causal):
        """torch.matmul, torch.softmax, torch.matmul"""
        scores = torch.matmul(q, k.transpose(1, 2)) / math.sqrt(q.shape[2])
        if causal:
            unseen = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
            scores.masked_fill_(unseen, -math.inf)
        return torch.matmul(torch.softmax(scores, 2), v)


def torch_kernels():
    aten = torch.ops.aten

    @assay.variant("layernorm", name="torch", summary="torch.native_layer_norm", arrays="torch")
    def layernorm(x, gamma, beta, y, mean, rstd, rows, cols):
        out = torch.native_layer_norm(x.view(rows, cols), (cols,), gamma, beta, 1e-5)
        for to, result in zip((y, mean, rstd), out):
            to.copy_(result.reshape(-1))

    @assay.variant("batch_norm", name="torch", summary="torch.native_batch_norm", arrays="torch")
    def batch_norm(x, gamma, beta, y, mean, rstd, n, c, h, w):
        out = torch.native_batch_norm(x.view(n, c, h, w), gamma, beta, None, None, True, 0, 1e-5)
        for to, result in zip((y, mean, rstd), out):
            to.copy_(result.reshape(-1))

    @assay.variant("batch_norm_backward", name="torch", summary="aten::native_batch_norm_backward", arrays="torch")
    def batch_norm_backward(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, n, c, h, w):
        out = aten.native_batch_norm_backward(dy.view(n, c, h, w), x.view(n, c, h, w), gamma, None, None, mean,
                                              rstd, True, 1e-5, [True, True, True])
        for to, result in zip((dx, dgamma, dbeta), out):
            to.copy_(result.reshape(-1))

    def sgd(nesterov):
        def step(p, g, b, p_next, b_next):
            from torch.optim._functional import sgd as in_place
            p_next.copy_(p)
            b_next.copy_(b)
            in_place([p_next], [g], [b_next], weight_decay=1e-4, momentum=0.9, lr=0.1, dampening=0, nesterov=nesterov,
                     maximize=False)
        return step

    for operation in ("sgd", "sgd_nesterov"):
        assay.variant(operation, name="torch", summary="torch.optim's functional sgd in copies of p and b",
                      arrays="torch")(sgd(operation != "sgd"))

    @assay.variant("elementwise_gelu", name="torch", summary="torch.nn.functional.gelu", arrays="torch")
    def gelu(x, z):
        z.copy_(nn.gelu(x))

    @assay.variant("elementwise_gelu_tanh", name="torch", summary="torch.nn.functional.gelu, by tanh", arrays="torch")
    def gelu_tanh(x, z):
        z.copy_(nn.gelu(x, approximate="tanh"))

    def adamw(name, **how):
        no_fused = "PyTorch %s has no fused AdamW for processors" % torch.__version__
        unfit = lambda: no_fused if "fused" in how and not hasattr(torch, "_fused_adamw_") else None

        def step(t, p, g, m, v):
            from torch.optim._functional import adamw as in_place
            # The number of the step before: the function counts it up.
            steps = [torch.tensor(float(t - 1)) for _ in p]
            in_place(p, g, m, v, [], steps, amsgrad=False, beta1=FIRST, beta2=SECOND, lr=RATE, weight_decay=DECAY,
                     eps=EPSILON, maximize=False, **how)

        @assay.variant("adamw", name=name, summary="torch.optim's functional adamw, one tensor", arrays="torch",
                       unfit=unfit)
        def one(g, p, m, v, t):
            step(t, [p], [g], [m], [v])

        @assay.variant("adamw_multi_tensor", name=name, summary="torch.optim's functional adamw, all tensors",
                       arrays="torch", unfit=unfit)
        def many(g, p, m, v, tensors, n, sizes, t):
            step(t, *(tensors_in(array, tensors, n, sizes) for array in (p, g, m, v)))

    # An optimizer has its list of tensors from before: to find them is no part of its step.
    lists = {}

    def tensors_in(array, tensors, n, sizes):
        key = array.data_ptr(), tensors, n, sizes
        if key not in lists:
            lists[key], begin = [], 0
            for k in range(tensors):
                count = max(1, n // 256) if sizes == 1 and k % 3 != 0 else n
                lists[key].append(array[begin:begin + count])
                begin += count + 1 + (7 * k + count) % 31
        return lists[key]

    adamw("torch", foreach=False)
    adamw("torch_foreach", foreach=True)
    adamw("torch_fused", fused=True)

    @assay.variant("layernorm_backward", name="torch", summary="aten::native_layer_norm_backward", arrays="torch")
    def layernorm_backward(dy, x, mean, rstd, gamma, dx, dgamma, dbeta, rows, cols):
        out = aten.native_layer_norm_backward(dy.view(rows, cols), x.view(rows, cols), (cols,),
                                              mean.view(rows, 1), rstd.view(rows, 1), gamma, gamma, [True, True, True])
        for to, result in zip((dx, dgamma, dbeta), out):
            to.copy_(result.reshape(-1))

    def bordered(image, more):
        return nn.pad(image, more) if any(more) else image  # without a copy

    # A tensor of convolutions hides the width of their image, which has the same name.
    @assay.variant("conv2d", name="torch", summary="torch.nn.functional.conv2d", arrays="torch")
    def conv2d(x, w, bias, y, n, c, f, h, kernel, kernel_w, stride, dilation, pad, bottom, left, right, groups):
        size, more, setting = window(kernel, kernel_w, stride, dilation, pad, bottom, left, right)
        image = bordered(x.view(n, c, h, -1), more)
        y.copy_(nn.conv2d(image, w.view(f, c // groups, *size), bias if len(bias) else None, *setting, groups).view(-1))

    @assay.variant("conv2d_data_gradient", name="torch", summary="aten::convolution_backward for dx", arrays="torch")
    def conv2d_data_gradient(dy, w, dx, n, c, f, h, kernel, kernel_w, stride, dilation, pad, bottom, left, right,
                             groups):
        size, more, setting = window(kernel, kernel_w, stride, dilation, pad, bottom, left, right)
        image = dx.view(n, c, h, -1)
        filters = w.view(f, c // groups, *size)
        out = backward(dy, bordered(image, more), filters, setting, groups, [True, False, False])[0]
        image.copy_(out[:, :, more[2]:out.shape[2] - more[3], more[0]:out.shape[3] - more[1]])

    @assay.variant("conv2d_weight_gradient", name="torch", summary="aten::convolution_backward for dw and dbias",
                   arrays="torch")
    def conv2d_weight_gradient(x, dy, dw, dbias, n, c, f, h, kernel, kernel_w, stride, dilation, pad, bottom, left,
                               right, groups):
        size, more, setting = window(kernel, kernel_w, stride, dilation, pad, bottom, left, right)
        image = bordered(x.view(n, c, h, -1), more)
        filters = dw.view(f, c // groups, *size)  # for its shape
        out = backward(dy, image, filters, setting, groups, [False, True, len(dbias) > 0])
        filters.copy_(out[1])
        if len(dbias):
            dbias.copy_(out[2])

    def backward(dy, image, filters, setting, groups, wanted):
        stride, pad, dilation = setting
        rows = (image.shape[2] + 2 * pad[0] - (filters.shape[2] - 1) * dilation[0] - 1) // stride[0] + 1
        shape = image.shape[0], filters.shape[0], rows, -1
        return aten.convolution_backward(dy.view(shape), image, filters, [len(filters)], stride, pad,
                                         dilation, False, [0, 0], groups, wanted)

    def by_elements(operation, function, summary, unfit=None):
        assay.variant(operation, name="torch", summary=summary, arrays="torch", unfit=unfit)(function)

    by_elements("elementwise_relu", lambda x, z: torch.clamp_min(x, 0, out=z), "torch.clamp_min", dense)
    by_elements("elementwise_relu_backward", lambda x, dz, dx: dx.copy_(aten.threshold_backward(dz, x, 0)),
                "aten::threshold_backward")
    by_elements("elementwise_sigmoid", lambda x, z: torch.sigmoid(x, out=z), "torch.sigmoid")
    by_elements("elementwise_sigmoid_backward", lambda y, dz, dx: dx.copy_(aten.sigmoid_backward(dz, y)),
                "aten::sigmoid_backward")
    by_elements("elementwise_gelu_backward", lambda x, dz, dx: dx.copy_(aten.gelu_backward(dz, x)),
                "aten::gelu_backward")
    by_elements("elementwise_gelu_tanh_backward",
                lambda x, dz, dx: dx.copy_(aten.gelu_backward(dz, x, approximate="tanh")),
                "aten::gelu_backward, by tanh")
    by_elements("elementwise_multiply", lambda x, y, z: torch.mul(x, y, out=z), "torch.mul",
                lambda layout, alpha, beta: dense(layout, beta) if alpha == 1 else "knows no alpha")
    by_elements("elementwise_channel_bias_backward",
                lambda dz, db, n, c, h, w: torch.sum(dz.view(n, c, h, w), (0, 2, 3), out=db), "torch.sum")
    by_elements("elementwise_add", lambda x, y, z, alpha: torch.add(x, y, alpha=alpha, out=z), "torch.add",
                dense)

    @assay.variant("softmax", name="torch", summary="torch.softmax", arrays="torch")
    def softmax(x, y, rows, cols):
        y.view(rows, cols).copy_(torch.softmax(x.view(rows, cols), 1))

    @assay.variant("embedding", name="torch", summary="torch.nn.functional.embedding", arrays="torch")
    def embedding(ids, table, y, n, rows, d):
        y.view(n, d).copy_(nn.embedding(ids, table.view(rows, d)))

    @assay.variant("embedding_backward", name="torch", summary="aten::embedding_dense_backward", arrays="torch")
    def embedding_backward(ids, dy, dtable, n, rows, d):
        dtable.view(rows, d).copy_(aten.embedding_dense_backward(dy.view(n, d), ids, rows, -1, False))

    @assay.variant("dropout", name="torch", summary="aten::native_dropout_backward, which takes a mask", arrays="torch")
    def dropout(x, keep, y, p):
        y.copy_(aten.native_dropout_backward(x, keep.bool(), 100 / (100 - p)))

    @assay.variant("softmax_cross_entropy", name="torch", arrays="torch",
                   summary="torch.nn.functional.cross_entropy and its gradient by autograd")
    def softmax_cross_entropy(x, label, loss, dx, rows, cols, smoothing):
        logits = x.view(rows, cols).detach().requires_grad_()
        with torch.enable_grad():
            losses = nn.cross_entropy(logits, label, reduction="none", label_smoothing=smoothing / 100)
            losses.mean().backward()
        loss.copy_(losses.detach())
        dx.view(rows, cols).copy_(logits.grad)

    @assay.variant("attention", name="torch", summary=attention_by_torch.__doc__, arrays="torch",
                   unfit=lambda padding: "knows no padding" if padding else None)
    def attention(q, k, v, y, heads, tokens, d, mask):
        shape = (heads, tokens, d)
        y.view(shape).copy_(attention_by_torch(q.view(shape), k.view(shape), v.view(shape), mask == 1))

    @assay.variant("lstm", name="torch", arrays="torch",
                   summary="torch.nn.functional.linear over all steps, and per step; nn.LSTM does not give its gates")
    def lstm(x, h0, c0, w_ih, w_hh, b_ih, b_hh, y, c, gates, steps, batch, inputs, hidden):
        w_hh, h, before = w_hh.view(4 * hidden, hidden), h0.view(batch, hidden), c0.view(batch, hidden)
        z = nn.linear(x.view(steps, batch, inputs), w_ih.view(4 * hidden, inputs), b_ih)
        y, c, gates = y.view(steps, batch, hidden), c.view(steps, batch, hidden), gates.view(steps, batch, 4 * hidden)
        for t in range(steps):
            i, f, g, o = (z[t] + nn.linear(h, w_hh, b_hh)).chunk(4, 1)
            i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
            torch.cat((i, f, g, o), 1, out=gates[t])
            torch.add(f * before, i * g, out=c[t])
            torch.mul(o, torch.tanh(c[t]), out=y[t])
            h, before = y[t], c[t]

    @assay.variant("gemm", name="torch", summary="torch.matmul", arrays="torch", unfit=only_a_product)
    def gemm(a, b, c, m, n, k, trans):
        a = a.view(k, m).t() if trans in A_TURNED else a.view(m, k)
        b = b.view(n, k).t() if trans in B_TURNED else b.view(k, n)
        torch.matmul(a, b, out=c.view(m, n))

    @assay.variant("batched_gemm", name="torch", summary="torch.bmm", arrays="torch")
    def batched_gemm(a, b, c, batch, m, n, k, trans):
        a = a.view(batch, k, m).mT if trans in A_TURNED else a.view(batch, m, k)
        b = b.view(batch, n, k).mT if trans in B_TURNED else b.view(batch, k, n)
        torch.bmm(a, b, out=c.view(batch, m, n))

    @assay.variant("gemv", name="torch", summary="torch.mv", arrays="torch")
    def gemv(a, x, y, m, n, trans):
        a = a.view(m, n)
        torch.mv(a.t() if trans else a, x, out=y)


if np is not None:
    numpy_kernels()
if torch is not None:
    torch_kernels()

if __name__ == "__main__":
    assay.main()
