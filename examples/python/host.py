"""Calls the tools of a Rust library: `cargo build -p toolkit-example-python && python3 host.py LIBRARY`."""

import ctypes
import json
import sys

library = ctypes.CDLL(sys.argv[1])
library.toolkit_list.restype = ctypes.c_void_p
library.toolkit_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
library.toolkit_call.restype = ctypes.c_void_p
library.toolkit_free.argtypes = [ctypes.c_void_p]


def read(text):
    """Returns the JSON at an address, which is then released."""
    try:
        return json.loads(ctypes.string_at(text))
    finally:
        library.toolkit_free(text)


def call(name, **arguments):
    return read(library.toolkit_call(name.encode(), json.dumps(arguments).encode()))


for tool in read(library.toolkit_list())["tools"]:
    print(tool["name"], "-", tool["description"])
print(call("text_count_words", text="five words in this text"))
print(call("math_divide", dividend=7, divisor=0))
print(call("math_divide", dividend="seven", divisor=2)["error"])
