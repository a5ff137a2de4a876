"""The base of results: a read-only view of a JSON object."""

import json
from typing import Any, Dict, Iterator, Optional, Type, TypeVar

Self = TypeVar("Self", bound="View")


class View:
    """A JSON object whose fields are attributes. `result.period` and `result["period"]` are the same."""

    __slots__ = ("_json",)
    _json: Dict[str, Any]

    def __init__(self, json: Dict[str, Any]) -> None:
        self._json = json

    @classmethod
    def _of(cls: Type[Self], json: Optional[Dict[str, Any]]) -> Optional[Self]:
        return None if json is None else cls(json)

    def to_dict(self) -> Dict[str, Any]:
        """All fields as the `ftio` command prints them, in a copy that may be changed."""
        copy: Dict[str, Any] = json.loads(self.to_json())
        return copy

    def to_json(self) -> str:
        """All fields as JSON."""
        return json.dumps(self._json)

    def keys(self) -> Iterator[str]:
        """The names of the fields that are there."""
        return iter(self._json)

    def __getitem__(self, name: str) -> Any:
        return self._json[name]

    def __contains__(self, name: object) -> bool:
        return name in self._json

    def __iter__(self) -> Iterator[str]:
        return iter(self._json)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __getstate__(self) -> Any:
        return self._json

    def __setstate__(self, state: Any) -> None:
        self._json = state

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._json.items() if name != "schema")
        return f"{type(self).__name__}({fields if len(fields) < 300 else fields[:297] + '...'})"
