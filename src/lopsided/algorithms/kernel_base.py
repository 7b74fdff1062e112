"""Kernels, and what learners with rows that they keep have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, ParameterError
from ..estimator import state as entry
from ..estimator.base import OnlineClassifier
from ..estimator.parameters import choice, estimator, is_number, parameter

KERNELS = ("gaussian", "laplacian", "linear", "polynomial")
# What each kernel takes, and what it is where it is not given.
_TAKES: dict[str, dict[str, Any]] = {
    "gaussian": {"gamma": "median"},
    "laplacian": {"gamma": "median"},
    "linear": {},
    "polynomial": {"gamma": 1.0, "degree": 3, "coef0": 1.0},
}
KERNEL_PARAMETERS = ("gamma", "degree", "coef0")


def _is_gamma(value: Any) -> bool:
    if isinstance(value, str):
        return value == "median"
    return value is None or (is_number(value) and value > 0)


def _is_degree(value: Any) -> bool:
    return value is None or (is_number(value) and value == int(value) and 1 <= value <= 64)


def _is_coef0(value: Any) -> bool:
    return value is None or (is_number(value) and value >= 0)


_CHECKS: dict[Any, Callable[[Any], bool]] = {
    "kernel": lambda v: v in KERNELS,
    "gamma": _is_gamma,
    "degree": _is_degree,
    "coef0": _is_coef0,
}


def _is_kernel(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        name in _CHECKS and _CHECKS[name](v) for name, v in value.items()
    )


def is_kernels(value: Any) -> bool:
    """Say whether a value is a list of kernels."""
    if value is None:
        return True
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_kernel, value))


def kernel_options(kernel: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kernel as the core takes it; a gamma of 0 is estimated from the first rows."""
    takes = _TAKES[kernel]
    for name, value in given.items():
        if value is not None and name not in takes:
            raise ParameterError(name, f"has no effect on kernel={kernel!r}")
    chosen = takes | {name: value for name, value in given.items() if value is not None}
    if chosen.get("gamma") == "median":
        if kernel == "polynomial":
            raise InputError("gamma='median' is for kernels of a distance, not for 'polynomial'")
        chosen["gamma"] = 0.0
    return {"kernel": kernel} | {name: float(value) for name, value in chosen.items()}


@estimator
class KernelClassifier(OnlineClassifier):
    """An online classifier whose score is a sum of kernels, one at each row it keeps.

    `scaling="auto"` is "unit" for sparse matrices and "standard" for anything else.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "linear", "polynomial"}
        exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), x.z or (gamma x.z + coef0)^degree.
    gamma : float or "median", optional
        Default "median", and 1 for the polynomial kernel. "median" is 1 / the median distance
        between the first 50 rows (squared distance for "gaussian"), distances of 0 excluded. Until
        there are 50 rows it is taken from those so far, which are learned again with every row.
    degree : int, optional
        Degree of the polynomial kernel; default 3.
    coef0 : float, optional
        Constant of the polynomial kernel; default 1.
    """

    kernel: str = choice("gaussian", *KERNELS)
    gamma: Any = parameter(None, "a positive number, 'median' or None", _is_gamma)
    degree: int | None = parameter(None, "a whole number from 1 to 64 or None", _is_degree)
    coef0: float | None = parameter(None, "a number of at least 0 or None", _is_coef0)

    _fixed = (*OnlineClassifier._fixed, "kernel", "gamma", "degree", "coef0")
    _lists: ClassVar[tuple[str, ...]] = ("kept",)  # the names of the lists of rows in the core

    @property
    def support_vectors_(self) -> Any:
        """The rows it keeps, as they were scaled: an array, or a CSR matrix of sparse rows."""
        parts = [part for part, _ in self._kept("support_vectors_")]
        if all(isinstance(part, np.ndarray) for part in parts):
            return np.vstack(parts)
        from scipy.sparse import csr_matrix, vstack

        return vstack([csr_matrix(part) for part in parts], format="csr")

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The weight of each row it keeps."""
        weights = np.concatenate([weights for _, weights in self._kept("dual_coef_")])
        return self._scale(self._attribute("dual_coef_").state()) * weights

    @property
    def n_support_(self) -> Any:
        """How many rows it keeps."""
        return sum(len(weights) for _, weights in self._kept("n_support_"))

    @property
    def gamma_(self) -> float:
        """The gamma of the kernel, as it is now."""
        gamma = self._attribute("gamma_").state().get(entry.GAMMA)
        if gamma is None:
            raise AttributeError("gamma_: with kernels= there is more than one, see members_")
        return float(gamma)

    def _scale(self, state: Mapping[str, Any]) -> float:
        """Return the factor of the weights in the core."""
        return 1.0

    def _kept(self, name: str) -> list[tuple[Any, NDArray[np.float64]]]:
        """Return the rows and weights of each list, in its order."""
        model = self._attribute(name)
        state, features = model.state(), model.features
        return [_rows(state, one, features) for one in self._lists]

    def _scaling(self, form: str) -> dict[str, bool]:
        if self.scaling == "auto" and form != "sparse":
            return {"unit": False, "standard": True, "centred": form == "dense"}
        return super()._scaling(form)

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        self._kernel_options()

    def _kernel_options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in KERNEL_PARAMETERS}
        return kernel_options(self.kernel, given)

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        for name in ("kernel", *KERNEL_PARAMETERS):
            own.pop(name, None)
        return {**own, **self._kernel_options()}


def _rows(state: Mapping[str, Any], name: str, features: int) -> tuple[Any, NDArray[np.float64]]:
    """Return the rows and weights of a list of the core, in its order."""
    patterns = (entry.LIST_SLOTS, entry.LIST_SIZE, entry.LIST_FIRST)
    slots, size, first = (int(state[pattern.format(name)]) for pattern in patterns)
    order = (first + np.arange(size)) % max(slots, 1)
    values = np.asarray(state[entry.LIST_VALUES.format(name)])
    weights = np.asarray(state[entry.LIST_WEIGHTS.format(name)])[order]
    if not state[entry.LIST_SPARSE.format(name)]:
        return values.reshape(slots, features)[order], weights
    from scipy.sparse import csr_matrix

    indices = np.asarray(state[entry.LIST_INDICES.format(name)]).astype(np.int32)
    ends = np.asarray(state[entry.LIST_ENDS.format(name)]).astype(np.int64)
    return csr_matrix((values, indices, np.r_[0, ends]), shape=(slots, features))[order], weights
