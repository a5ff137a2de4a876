"""A second decoder of the tmio trace, from docs/trace-format.md alone: prints one JSON line per operation."""
import json, sys, zlib, msgpack

def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift; shift += 7
        if byte < 128: yield value; value = shift = 0

def column(data):
    codes = varints(data)
    for code in codes: yield from [0] * next(codes) if code == 0 else [code >> 1 ^ -(code & 1)]

def times(data):
    number = lambda code: code >> 1 ^ -(code & 1)
    while data:
        one, both = (data[0] & 7) + 1, (data[0] & 7) + (data[0] >> 4 & 7) + 2
        pairs, data = (data[1] + 1, data[2:]) if data[0] & 128 else (1, data[1:])
        for _ in range(pairs): yield [number(int.from_bytes(part, "little")) for part in (data[:one], data[one:both])]; data = data[both:]

for tag, frame_kind, crc, body in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=0):
    assert tag in ("tmio1", "tmio2") and zlib.crc32(body) == crc
    if frame_kind != 2: continue
    block, rows = msgpack.unpackb(body), []
    c = {name: (times if name == "times" else column)(data) for name, data in block["columns"].items()}
    kind = flags = thread = file = size = stride = offset = end = 0
    for _ in range(block["count"]):
        kind += next(c["kind"]); flags += next(c["flags"]); thread += next(c["thread"]); file += next(c["file"]); size += next(c["bytes"])
        stride += next(c["offset"]); offset += stride; distance, duration = next(c["times"]); start = end + distance; end = start + duration
        rows.append([block["rank"], kind, flags, thread, dict(block["files"])[file], offset, size, start, end])
    late = [row for row in rows if row[1] & 0x82 == 2]
    for row, *t in zip(late, *(c.get(name, ()) for name in ("issued", "deadline", "pending", "tested"))):
        row += [row[7] + t[0], row[8] - t[1], row[7] + t[0] + t[2], t[3]]
    for row in rows: print(json.dumps(row))
