"""Which peers are installed. Nothing is imported to find out."""

from __future__ import annotations

from importlib import metadata

PACKAGES = (
    "lopsided",
    "numpy",
    "scipy",
    "scikit-learn",
    "fastapi",
    "river",
    "uvicorn",
    "vowpalwabbit",
    "scikit-activeml",
)


def versions() -> dict[str, str | None]:
    return {name: _version(name) for name in PACKAGES}


def present(name: str) -> bool:
    return _version(name) is not None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
