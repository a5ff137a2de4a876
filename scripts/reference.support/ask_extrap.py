"""The models that Extra-P finds for the measurements in a folder: ask_extrap.py FOLDER > extrap.json"""

import importlib.metadata
import json
import logging
import math
import os
import sys
import warnings

import numpy
from extrap.entities.measurement import Measure
from extrap.entities.terms import MultiParameterTerm
from extrap.fileio.file_reader.json_file_reader import JsonFileReader
from extrap.fileio.file_reader.talpas_file_reader import TalpasFileReader
from extrap.fileio.file_reader.text_file_reader import TextFileReader
from extrap.modelers import multi_parameter, single_parameter
from extrap.modelers.model_generator import ModelGenerator
from extrap.util.string_formats import FunctionFormats

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


def cases(files):
    """Every file as it is, and some of them with other modelers and options."""
    for file in files:
        modeler = "Segmented" if file.startswith("segments") else "Default"
        yield file, modeler, "mean", {}
        one_parameter = file.split("_")[0] not in ("two", "three", "segments") and file != "ragged.jsonl"
        if file.endswith("_10.jsonl") or file.endswith("_5_noise.jsonl"):
            yield file, "Refining", "mean", {}
        if file.endswith("_noise.jsonl"):
            yield file, "Default", "median", {}
        if one_parameter and file.endswith("_10_noise.jsonl"):
            yield file, "Default", "mean", {"allow_log_terms": False}
            yield file, "Default", "mean", {"use_crossvalidation": False}
            yield file, "Default", "mean", {"compare_with_RSS": True}
        if file.startswith("falling"):
            yield file, "Default", "mean", {"allow_negative_exponents": True}


def form(file):
    if file in ("text.txt", "talpas.txt"):
        return file.removesuffix(".txt")
    return "json" if file.endswith(".json") else "jsonl"


READERS = {
    "jsonl": JsonFileReader,
    "json": JsonFileReader,
    "text": TextFileReader,
    "talpas": TalpasFileReader,
}


def number(value):
    value = float(value)
    return value if math.isfinite(value) else str(value)


def factor(index, parameters, term):
    exponents = {"poly": "0", "log": "0"}
    for simple in term.simple_terms:
        exponents["poly" if simple.term_type == "polynomial" else "log"] = str(simple.exponent)
    return {"param": parameters[index], "param_index": index, **exponents}


def formula(function, parameters):
    terms = []
    for term in function.compound_terms:
        pairs = term.parameter_term_pairs if isinstance(term, MultiParameterTerm) else [(0, term)]
        factors = [factor(index, parameters, one) for index, one in pairs]
        terms.append({"coefficient": number(term.coefficient), "factors": factors})
    return {
        "type": type(function).__name__,
        "string": function.to_string(*parameters),
        "python": function.to_string(*parameters, format=FunctionFormats.PYTHON),
        "constant": number(function.constant_coefficient),
        "terms": terms,
    }


def described(function, parameters):
    if not hasattr(function, "segments"):
        return formula(function, parameters)
    return {
        "type": "segmented",
        "string": function.to_string(*parameters),
        "segments": [formula(segment, parameters) for segment in function.segments],
        "intervals": [[number(low), number(high)] for low, high in function.intervals],
    }


def point(measurement):
    names = {"mean": "mean", "median": "median", "min": "minimum", "max": "maximum"}
    summary = {key: number(getattr(measurement, name)) for key, name in names.items()}
    coordinate = [number(value) for value in measurement.coordinate]
    return {"coordinate": coordinate, **summary, "repetitions": int(measurement.repetitions)}


def described_model(key, model, parameters):
    costs = {
        name: number(getattr(model.hypothesis, name))
        for name in ("RSS", "rRSS", "nRSS", "SMAPE", "AR2", "RE")
    }
    return {
        "callpath": key[0].name,
        "metric": key[1].name,
        "points": [point(measurement) for measurement in model.measurements],
        "function": described(model.hypothesis.function, parameters),
        **costs,
        "predictions": [number(value) for value in numpy.atleast_1d(model.predictions)],
    }


def ask(path, modeler, measure, options):
    experiment = READERS[form(os.path.basename(path))]().read_experiment(path)
    parameters = [parameter.name for parameter in experiment.parameters]
    kinds = single_parameter if len(parameters) == 1 else multi_parameter
    chosen = kinds.all_modelers[modeler]()
    for name, value in options.items():
        setattr(chosen, name, value)
    generator = ModelGenerator(experiment, chosen, use_measure=Measure[measure.upper()])
    generator.model_all()
    models = [described_model(key, model, parameters) for key, model in generator.models.items()]
    return {"parameters": parameters, "models": models}


def main():
    folder = sys.argv[1]
    answers = []
    for file, modeler, measure, options in cases(sorted(os.listdir(folder))):
        extra = [modeler] * (modeler != "Default") + [measure] * (measure != "mean") + list(options)
        case = {
            "name": " ".join([file, *extra]),
            "file": f"inputs/{file}",
            "format": form(file),
            "modeler": modeler,
            "measure": measure,
            "options": options,
        }
        try:
            case.update(ask(os.path.join(folder, file), modeler, measure, options))
        except Exception as failure:
            case["error"] = f"{type(failure).__name__}: {failure}"
        print(case["name"], case.get("error", ""), file=sys.stderr)
        answers.append(case)
    version = importlib.metadata.version("extrap")
    print('{"extrap_version": "%s", "numpy": "%s", "cases": [' % (version, numpy.__version__))
    print(",\n".join(json.dumps(case) for case in answers))
    print("]}")


main()
