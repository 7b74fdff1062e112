"""Which metadata scikit-learn passes on to an estimator; it is imported when somebody asks."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

from ..errors import InputError, UnknownParameterError
from .parameters import nearest

if TYPE_CHECKING:
    from typing_extensions import Self

_METHODS = ("fit", "partial_fit", "predict", "score")
_ALWAYS = ("self", "X", "y")


class Routed:
    """An estimator that requests weights, times and prices from scikit-learn's routing."""

    _metadata_request: Any  # where scikit-learn's clone looks for it, once there is one

    def get_metadata_routing(self) -> Any:
        """Return what is requested, as scikit-learn's MetadataRequest."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if hasattr(self, "_metadata_request"):
            return copy.deepcopy(self._metadata_request)
        request = MetadataRequest(owner=type(self).__name__)
        for method in _METHODS:
            for name in self._metadata_of(method):
                getattr(request, method).add_request(param=name, alias=None)
        return request

    def set_fit_request(self, **metadata: bool | str | None) -> Self:
        """Say what `fit` gets from scikit-learn's routing: `sample_weight=True`, for example."""
        return self._set_request("fit", metadata)

    def set_partial_fit_request(self, **metadata: bool | str | None) -> Self:
        """Say what `partial_fit` gets from scikit-learn's routing."""
        return self._set_request("partial_fit", metadata)

    def set_predict_request(self, **metadata: bool | str | None) -> Self:
        """Say what `predict` gets from scikit-learn's routing."""
        return self._set_request("predict", metadata)

    def set_score_request(self, **metadata: bool | str | None) -> Self:
        """Say what `score` gets from scikit-learn's routing."""
        return self._set_request("score", metadata)

    def _kept_request(self) -> dict[str, Any]:
        """Return what is requested as a part of the state of a pickle."""
        return {"routing": self._metadata_request} if hasattr(self, "_metadata_request") else {}

    def _take_request(self, saved: dict[str, Any]) -> None:
        if "routing" in saved:
            object.__setattr__(self, "_metadata_request", saved["routing"])

    def _set_request(self, method: str, metadata: dict[str, Any]) -> Self:
        import sklearn

        if not sklearn.get_config()["enable_metadata_routing"]:
            raise InputError(
                f"set_{method}_request has no effect yet: call "
                "sklearn.set_config(enable_metadata_routing=True) first"
            )
        known = self._metadata_of(method)
        request = self.get_metadata_routing()
        for name, alias in metadata.items():
            if name not in known:
                owner = f"{type(self).__name__}.{method}"
                raise UnknownParameterError(owner, name, nearest(name, known))
            getattr(request, method).add_request(param=name, alias=alias)
        object.__setattr__(self, "_metadata_request", request)
        return self

    def _metadata_of(self, method: str) -> list[str]:
        """Return what a method takes beside rows and labels."""
        taken = inspect.signature(getattr(type(self), method)).parameters
        return [name for name in taken if name not in _ALWAYS]
