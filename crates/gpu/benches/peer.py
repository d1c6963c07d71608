"""The same step in PyTorch: agents' lots of 256 in one batch, ghost clipping, noise, plain steps, in a CUDA graph.

    python3 peer.py AGENTS [compiled]

Prints lines of `million samples/s`, with what they are of: single precision as it is, with TF32 in matrix products, and if asked for compiled.
"""

import sys
import time

import torch
import torch.nn.functional as F

LOT, CLIP, NOISE, RATE = 256, 10.0, 1.3, 0.05


def start(agents, device):
    """Parameters as PyTorch draws them, for each agent."""
    shapes = [((3, 25), 25), ((3,), 25), ((64, 588), 588), ((64,), 588), ((10, 64), 64), ((10,), 64)]
    return [torch.empty(agents, *shape, device=device).uniform_(-inputs ** -0.5, inputs ** -0.5) for shape, inputs in shapes]


def step(parameters, pixels, labels):
    """One step of all agents, in place. Convolutions are grouped, by agents and by images: the fastest of several ways."""
    k, kb, w1, b1, w2, b2 = parameters
    lot, agents = pixels.shape[:2]
    x = (pixels.reshape(lot, agents, 32, 32).float() / 255.0 - 0.1307) / 0.3081
    z0 = F.conv2d(x, k.reshape(agents * 3, 1, 5, 5), kb.reshape(-1), groups=agents)
    pooled, places = F.max_pool2d(F.mish(z0), 2, return_indices=True)
    h = pooled.reshape(lot, agents, 588).transpose(0, 1)
    z1 = torch.baddbmm(b1[:, None], h, w1.transpose(1, 2))
    a = F.mish(z1)
    z2 = torch.baddbmm(b2[:, None], a, w2.transpose(1, 2))
    d2 = torch.softmax(z2, -1) - F.one_hot(labels, 10).float()
    d1 = torch.ops.aten.mish_backward(torch.bmm(d2, w2), z1)
    dh = torch.bmm(d1, w1).transpose(0, 1).reshape(lot, agents * 3, 14, 14)
    d0 = torch.ops.aten.mish_backward(F.max_unpool2d(dh, places, 2, output_size=(28, 28)), z0)
    gk = F.conv2d(x.reshape(1, lot * agents, 32, 32), d0.reshape(lot * agents * 3, 1, 28, 28), groups=lot * agents)
    gk = gk.reshape(lot, agents, 3, 25).transpose(0, 1)
    gb = d0.reshape(lot, agents, 3, 784).sum(-1).transpose(0, 1)
    square = lambda t: t.square().sum(-1)
    norms = square(gk.flatten(2)) + square(gb) + (square(h) + 1) * square(d1) + (square(a) + 1) * square(d2)
    factor = (CLIP / norms.sqrt()).clamp(max=1.0)
    d1, d2 = d1 * factor[..., None], d2 * factor[..., None]
    sums = [
        (gk * factor[..., None, None]).sum(1), (gb * factor[..., None]).sum(1),
        torch.bmm(d1.transpose(1, 2), h), d1.sum(1), torch.bmm(d2.transpose(1, 2), a), d2.sum(1),
    ]
    for parameter, total in zip(parameters, sums):
        parameter.sub_((total + CLIP * NOISE * torch.randn_like(total)) * (RATE / LOT))


def speed(agents, work):
    """Million samples a second, by replays of a graph; the best of several."""
    parameters = start(agents, "cuda")
    pixels = torch.randint(0, 256, (LOT, agents, 1024), dtype=torch.uint8, device="cuda")
    labels = torch.randint(0, 10, (agents, LOT), device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work(parameters, pixels, labels)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work(parameters, pixels, labels)
    best = float("inf")
    for _ in range(8):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - began) / 3)
    return agents * LOT / best / 1e6


def main():
    asked = int(sys.argv[1])
    ways = [("float32", False, step), ("TF32", True, step)]
    if "compiled" in sys.argv:
        ways.append(("TF32, compiled", True, torch.compile(step, dynamic=False)))
    for name, tf32, work in ways:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        best = (0.0, 0)
        # A batch that is too large for the caches may be slower: the fastest counts.
        for agents in sorted({10, 100, min(asked, 400)}):
            try:
                best = max(best, (speed(agents, work), agents))
            except Exception as problem:  # noqa: BLE001
                print(f"# {name}, {agents} agents: {str(problem)[:200]}")
            torch.cuda.empty_cache()
        print(f"{best[0]:.3f} million samples/s, PyTorch {torch.__version__}, {name}, {best[1]} agents at a time", flush=True)


main()
