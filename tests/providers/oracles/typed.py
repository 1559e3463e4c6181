"""Checks JSON against an official request type. Unlike pydantic, it rejects keys that the type does not declare."""

import collections.abc
import json
import re
import types
import typing

import typing_extensions
from pydantic import BaseModel

UNIONS = (typing.Union, types.UnionType)
LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)
MAPS = (dict, collections.abc.Mapping)


class Mismatch(Exception):
    pass


def check_name(name, others="_-", first=""):
    """Checks that a name has at most 64 characters, and only letters, digits and `others`, as the providers document."""
    if not re.fullmatch(rf"{first}[a-zA-Z0-9{re.escape(others)}]{{1,64}}", name):
        raise Mismatch(f"{name[:80]!r} is not a name")


def check_object_text(text):
    """Checks that arguments are the JSON text of an object, which many servers parse, or empty."""
    if text and not isinstance(json.loads(text), dict):
        raise Mismatch(f"{text[:80]!r} is not an object")


def literals(kind):
    """Returns the values of the literals in a type."""
    if typing.get_origin(kind) in (typing.Literal, typing_extensions.Literal):
        return set(typing.get_args(kind))
    return set().union(*(literals(argument) for argument in typing.get_args(kind)))


def check(value, kind, place="", unknown_keys=False):
    """Raises an error if the value is not of the type. `unknown_keys` accepts keys that it does not declare."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in (object, typing.Any):
        return
    if origin in (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired, typing.Required):
        return check(value, arguments[0], place, unknown_keys)
    if origin in UNIONS:
        return check_union(value, arguments, place, unknown_keys)
    if origin is typing.Literal or origin is typing_extensions.Literal:
        is_sound = value in arguments
    elif typing_extensions.is_typeddict(kind):
        return check_keys(value, kind, place, unknown_keys)
    elif origin in LISTS:
        is_sound = isinstance(value, list)
        for number, item in enumerate(value if is_sound else []):
            check(item, arguments[0], f"{place}/{number}", unknown_keys)
    elif origin in MAPS or kind in MAPS:
        is_sound = isinstance(value, dict)
    elif kind in (None, type(None)):
        is_sound = value is None
    elif kind in (int, float):
        is_sound = isinstance(value, (int, kind)) and not isinstance(value, bool)
    elif isinstance(kind, type) and not issubclass(kind, BaseModel):
        is_sound = isinstance(value, kind)
    else:
        is_sound = False
    if not is_sound:
        raise Mismatch(f"{place}: {str(value)[:80]} is not {kind}")


def check_union(value, kinds, place, unknown_keys):
    mismatches = []
    for kind in kinds:
        try:
            return check(value, kind, place, unknown_keys)
        except Mismatch as mismatch:
            mismatches.append(str(mismatch))
    # The variant that was meant differs the deepest.
    raise Mismatch(max(mismatches, key=lambda mismatch: mismatch.split(": ")[0].count("/")))


def check_keys(value, kind, place, unknown_keys):
    if not isinstance(value, dict):
        raise Mismatch(f"{place}: {str(value)[:80]} is not an object")
    declared = typing_extensions.get_type_hints(kind, include_extras=True)
    for key in kind.__required_keys__ - value.keys():
        raise Mismatch(f"{place}/{key}: missing in {kind.__name__}")
    for key, item in value.items():
        if key in declared:
            check(item, declared[key], f"{place}/{key}", unknown_keys)
        elif not unknown_keys:
            raise Mismatch(f"{place}/{key}: unknown in {kind.__name__}")
