"""Experiments as Extra-P saves them, Cube profiles, and what Extra-P reads in them: make_saved.py FOLDER

Cube profiles are written here, byte by byte, because only Score-P writes them otherwise; Extra-P's own reader
(pycubexr) says whether they are right. Some are compressed, some are in the other order of bytes.
"""

import gzip
import io
import json
import logging
import pathlib
import random
import struct
import sys
import tarfile
import warnings
import zipfile
import zlib

import numpy
from extrap.fileio import experiment_io
from extrap.fileio.file_reader.cube_file_reader2 import CubeFileReader2
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.modelers.model_generator import ModelGenerator

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
# The same bytes whenever this is run.
zipfile.time.localtime = lambda *_: (1980, 1, 1, 0, 0, 0, 0, 0, 0)

SCALES = [2, 4, 8, 16, 32]
ANCHOR = """<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.4">
 <attr key="CUBE_CT_AGGR" value="SUM"/>
 <metrics>
{metrics}
 </metrics>
 <program>
  <region id="0" mod="a.c" begin="1" end="9"><name>main</name><mangled_name>main</mangled_name></region>
  <region id="1" mod="a.c" begin="10" end="19"><name>compute</name></region>
  <region id="2" mod="a.c" begin="20" end="29"><name>write &lt;checkpoint&gt;</name></region>
  <region id="3" mod="" begin="-1" end="-1"><name>MPI_File_write_at</name></region>
  <cnode id="0" calleeId="0">
   <cnode id="1" calleeId="1"/>
   <cnode id="2" calleeId="2"><cnode id="3" calleeId="3"/></cnode>
   <cnode id="4" calleeId="3"/>
  </cnode>
 </program>
 <system>
  <systemtreenode Id="0"><name>machine</name><class>machine</class>
   <locationgroup Id="0"><name>all</name><rank>0</rank><type>process</type>
{locations}
   </locationgroup>
  </systemtreenode>
 </system>
</cube>
"""
METRICS = [
    ("time", "INCLUSIVE", "DOUBLE"),
    ("visits", "EXCLUSIVE", "UINT64"),
    ("max_time", "EXCLUSIVE", "MAXDOUBLE"),
]
FIGURES = ("mean", "median", "minimum", "maximum", "std")
# In which order the calls are numbered: inclusive metrics have the children of a call before their own.
ORDER = {"INCLUSIVE": [0, 1, 2, 4, 3], "EXCLUSIVE": [0, 1, 2, 3, 4]}


def profile(path, scale, random_numbers, little, compressed):
    """A profile of three processes."""
    locations, mark = 3, "<" if little else ">"
    metrics = "\n".join(
        f'  <metric id="{i}" type="{kind}"><disp_name>{name}</disp_name><uniq_name>{name}</uniq_name>'
        f"<dtype>{data}</dtype><uom>sec</uom></metric>"
        for i, (name, kind, data) in enumerate(METRICS)
    )
    ranks = "\n".join(
        f'    <location Id="{i}"><name>rank {i}</name><rank>{i}</rank><type>thread</type></location>'
        for i in range(locations)
    )
    anchor = ANCHOR.format(metrics=metrics, locations=ranks).encode()
    files = {"anchor.xml": gzip.compress(anchor, mtime=0) if compressed else anchor}
    scatter = lambda: 1 + 0.02 * random_numbers.random()
    own = {0: 1.0, 1: 5.0, 2: 0.5 * scale, 3: 0.01 * scale * scale, 4: 2.0}
    own = {call: [value * scatter() for _ in range(locations)] for call, value in own.items()}
    total = dict(own)
    total[2] = [a + b for a, b in zip(own[2], own[3])]
    total[0] = [sum(values) for values in zip(own[0], own[1], total[2], own[4])]
    visits = {0: [1] * 3, 1: [scale] * 3, 3: [scale * scale, 7, scale]}
    of_metric = {"time": total, "visits": visits, "max_time": own}
    for i, (name, kind, data) in enumerate(METRICS):
        order = ORDER[kind]
        calls = [call for call in order if call in of_metric[name]]
        index = b"CUBEX.INDEX" + struct.pack(mark + "ih", 1, 0) + b"\0"
        index += struct.pack(mark + f"i{len(calls)}i", len(calls), *[order.index(call) for call in calls])
        values = [value for call in calls for value in of_metric[name][call]]
        content = struct.pack(mark + f"{len(values)}{'Q' if data == 'UINT64' else 'd'}", *values)
        if compressed:
            half = len(content) // 16 * 8
            pieces = [zlib.compress(part) for part in (content[:half], content[half:])]
            head, place = struct.pack(mark + "q", 2), 0
            for at, piece in zip((0, half), pieces):
                head += struct.pack(mark + "3q", at, place, len(piece))
                place += len(piece)
            content = b"ZCUBEX.DATA" + head + b"".join(pieces)
        else:
            content = b"CUBEX.DATA" + content
        files[f"{i}.index"], files[f"{i}.data"] = index, content
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def measurements(path, parameters, repetitions, random_numbers):
    """Writes JSON lines. Returns the values of every callpath and point."""
    written = {}
    with open(path, "w") as file:
        for p in SCALES:
            for n in [1] if parameters == 1 else [10, 20, 30, 40, 50]:
                for callpath, value in ("main", 3 + 2 * p * n), ("main->write", 0.1 * p * p + n):
                    values = [value * (1 + 0.02 * random_numbers.random()) for _ in range(repetitions)]
                    params = {"p": p} if parameters == 1 else {"p": p, "n": n}
                    line = {"params": params, "callpath": callpath, "metric": "time", "value": values}
                    file.write(json.dumps(line) + "\n")
                    written[callpath, tuple(params.values())] = values
    return written


def told(experiment):
    """What Extra-P has read."""
    sets = []
    for (callpath, metric), points in experiment.measurements.items():
        sets.append(
            {
                "callpath": callpath.name,
                "metric": metric.name,
                "points": [
                    {
                        "point": [float(value) for value in one.coordinate.as_tuple()],
                        **{name: float(getattr(one, name)) for name in FIGURES},
                    }
                    for one in points
                ],
            }
        )
    return {"parameters": [parameter.name for parameter in experiment.parameters], "sets": sets}


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    random_numbers = random.Random(20)
    found = {}
    for name, parameters, repetitions, keep in ("figures", 1, 7, False), ("values", 2, 3, True):
        lines = out / f"{name}.jsonl"
        written = measurements(lines, parameters, repetitions, random_numbers)
        experiment = read_jsonlines_file(str(lines))
        if keep:
            # The reader of JSON lines has an option for it and drops them all the same.
            for one in (one for points in experiment.measurements.values() for one in points):
                one.values = numpy.array(written[one.callpath.name, one.coordinate.as_tuple()])
        ModelGenerator(experiment).model_all()
        experiment_io.write_experiment(experiment, str(out / f"{name}.extra-p"))
        lines.unlink()
        found[f"{name}.extra-p"] = told(experiment_io.read_experiment(str(out / f"{name}.extra-p")))
    for index, scale in enumerate(SCALES):
        for run in 1, 2:
            path = out / "cube" / f"app.p{scale}.r{run}" / "profile.cubex"
            profile(path, scale, random_numbers, little=index != 1, compressed=index > 2)
    for scaling in "weak", "strong":
        reader = CubeFileReader2()
        reader.scaling_type = scaling
        found[f"cube {scaling}"] = told(reader.read_experiment(out / "cube"))
    (out / "extrap.json").write_text(json.dumps(found, indent=1) + "\n")


main()
