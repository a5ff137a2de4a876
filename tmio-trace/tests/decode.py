"""A second decoder of the tmio trace, from docs/trace-format.md alone: prints one JSON line per operation."""
import json, sys, zlib, msgpack

def column(data, count):
    out, place = [], 0
    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]; place += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128: return value
    while len(out) < count:
        code = varint()
        out += [0] * varint() if code == 0 else [code >> 1 ^ -(code & 1)]
    return iter(out)

for tag, frame_kind, crc, body in msgpack.Unpacker(open(sys.argv[1], "rb"), max_buffer_size=0):
    assert tag == "tmio1" and zlib.crc32(body) == crc
    if frame_kind != 2: continue
    block, rows = msgpack.unpackb(body), []
    c = {name: column(data, block["count"]) for name, data in block["columns"].items() if name not in ("issued", "deadline", "pending", "tested")}
    kind = flags = thread = file = size = stride = offset = end = 0
    for _ in range(block["count"]):
        kind += next(c["kind"]); flags += next(c["flags"]); thread += next(c["thread"]); file += next(c["file"]); size += next(c["bytes"])
        stride += next(c["offset"]); offset += stride; start = end + next(c["start"]); end = start + next(c["duration"])
        rows.append([block["rank"], kind, flags, thread, dict(block["files"])[file], offset, size, start, end])
    late = [row for row in rows if row[1] & 0x82 == 2]
    for row, *t in zip(late, *(column(block["columns"].get(name, b""), len(late)) for name in ("issued", "deadline", "pending", "tested"))):
        row += [row[7] + t[0], row[8] - t[1], row[7] + t[0] + t[2], t[3]]
    for row in rows: print(json.dumps(row))
