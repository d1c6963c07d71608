"""Drawn images in MNIST's format, which both sides read: ten smooth patterns, moved about, under noise."""

from pathlib import Path

SIDE = 32
FILES = {"train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")}


def draw(folder: Path, train: int, test: int, np) -> None:
    """Writes both sets."""
    random = np.random.default_rng(20261117)
    coarse = random.random((10, 8, 8))
    patterns = np.kron(coarse, np.ones((4, 4)))
    for part, count in (("train", train), ("test", test)):
        labels = random.integers(0, 10, count)
        images = np.stack([np.roll(patterns[label], random.integers(-3, 4, 2), (0, 1)) for label in labels])
        images = np.clip(128 * images + random.normal(0, 48, images.shape), 0, 255).astype(np.uint8)
        for name, data in zip(FILES[part], (images, labels.astype(np.uint8))):
            sizes = b"".join(size.to_bytes(4, "big") for size in data.shape)
            (folder / name).write_bytes(bytes([0, 0, 8, data.ndim]) + sizes + data.tobytes())


def read(folder: Path, part: str, np):
    """Images and labels as arrays."""
    images, labels = (np.fromfile(folder / name, np.uint8) for name in FILES[part])
    return images[16:].reshape(-1, 1, SIDE, SIDE), labels[8:]
