"""Bytes of protobuf messages, written by hand."""


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, data):
    """A field of bytes, or a message."""
    return varint(number << 3 | 2) + varint(len(data)) + data
