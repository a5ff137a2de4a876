//! One JSON document: points spelled out, or the older form with ids.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::{builder, check_point};
use crate::error::{Error, Result};
use crate::experiment::ExperimentBuilder;

#[derive(Deserialize)]
struct Document {
    parameters: Vec<String>,
    measurements: Ordered<Ordered<Vec<PointValues>>>,
}

#[derive(Deserialize)]
struct PointValues {
    point: Vec<f64>,
    values: Vec<Option<f64>>,
}

/// An object whose order is kept: models appear in the order of the file.
pub(super) struct Ordered<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Ordered<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

#[derive(Deserialize)]
struct DocumentWithIds {
    parameters: Vec<Named>,
    callpaths: Vec<Named>,
    metrics: Vec<Named>,
    coordinates: Vec<Coordinate>,
    measurements: Vec<Reference>,
}

#[derive(Deserialize)]
struct Named {
    id: i64,
    name: String,
}

#[derive(Deserialize)]
struct Coordinate {
    id: i64,
    parameter_value_pairs: Vec<ParameterValue>,
}

#[derive(Deserialize)]
struct ParameterValue {
    parameter_id: i64,
    parameter_value: f64,
}

#[derive(Deserialize)]
struct Reference {
    coordinate_id: i64,
    callpath_id: i64,
    metric_id: i64,
    value: Option<f64>,
}

/// Only to tell the two forms apart.
#[derive(Deserialize)]
struct Keys {
    callpaths: Option<serde::de::IgnoredAny>,
}

pub(super) fn parse(text: &str, source: &str) -> Result<ExperimentBuilder> {
    let keys: Keys = decode(text, source)?;
    if keys.callpaths.is_some() {
        with_ids(decode(text, source)?, source)
    } else {
        spelled_out(decode(text, source)?, source)
    }
}

fn decode<'a, T: Deserialize<'a>>(text: &'a str, source: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message);
        Error::format(
            source,
            Some(error.line()),
            "a JSON document with `parameters` and `measurements`",
            format!("column {}: {message}", error.column()),
        )
    })
}

fn spelled_out(document: Document, source: &str) -> Result<ExperimentBuilder> {
    let mut experiment = builder(document.parameters, source, None)?;
    for (callpath, metrics) in document.measurements.0 {
        for (metric, measurements) in metrics.0 {
            for measurement in measurements {
                add(&mut experiment, source, &callpath, &metric, &measurement.point, measurement.values)?;
            }
        }
    }
    Ok(experiment)
}

fn with_ids(document: DocumentWithIds, source: &str) -> Result<ExperimentBuilder> {
    let mut parameters = document.parameters;
    parameters.sort_by_key(|parameter| parameter.id);
    let mut experiment =
        builder(parameters.into_iter().map(|parameter| parameter.name).collect(), source, None)?;

    let mut coordinates: Vec<(i64, Vec<f64>)> = Vec::with_capacity(document.coordinates.len());
    for mut coordinate in document.coordinates {
        coordinate.parameter_value_pairs.sort_by_key(|pair| pair.parameter_id);
        let point = coordinate.parameter_value_pairs.iter().map(|pair| pair.parameter_value).collect();
        coordinates.push((coordinate.id, point));
    }
    coordinates.sort_by_key(|(id, _)| *id);
    for (_, point) in &coordinates {
        check_dimensions(&experiment, source, point)?;
        experiment.coordinate(point);
    }
    let coordinates: HashMap<i64, Vec<f64>> = coordinates.into_iter().collect();
    let names = |entries: Vec<Named>| -> HashMap<i64, String> {
        entries.into_iter().map(|entry| (entry.id, entry.name)).collect()
    };
    let callpaths = names(document.callpaths);
    let metrics = names(document.metrics);
    let unknown = |what: &str, id: i64| Error::format(source, None, format!("a {what} with id {id}"), "none");
    for reference in document.measurements {
        let point = coordinates
            .get(&reference.coordinate_id)
            .ok_or_else(|| unknown("coordinate", reference.coordinate_id))?;
        let callpath = callpaths
            .get(&reference.callpath_id)
            .ok_or_else(|| unknown("callpath", reference.callpath_id))?;
        let metric =
            metrics.get(&reference.metric_id).ok_or_else(|| unknown("metric", reference.metric_id))?;
        add(&mut experiment, source, callpath, metric, point, vec![reference.value])?;
    }
    Ok(experiment)
}

fn add(
    experiment: &mut ExperimentBuilder,
    source: &str,
    callpath: &str,
    metric: &str,
    point: &[f64],
    values: Vec<Option<f64>>,
) -> Result<()> {
    check_dimensions(experiment, source, point)?;
    let values: Vec<f64> = values.into_iter().flatten().collect();
    if !values.is_empty() {
        experiment.add(callpath, metric, point, &values);
    }
    Ok(())
}

fn check_dimensions(experiment: &ExperimentBuilder, source: &str, point: &[f64]) -> Result<()> {
    check_point(point, source, None)?;
    if point.len() == experiment.dimensions() {
        return Ok(());
    }
    let expected = format!("points of {} values, one for each parameter", experiment.dimensions());
    Err(Error::format(source, None, expected, format!("{point:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<crate::Experiment> {
        parse(text, "x.json").map(ExperimentBuilder::build)
    }

    #[test]
    fn both_forms_give_the_same() {
        let new = read(
            "{\"parameters\":[\"x\"],\"measurements\":{\"sweep\":{\"time\":[{\"point\":[4],\"values\":[1,2]},\
             {\"point\":[8],\"values\":[null,3]}]}}}",
        )
        .unwrap();
        let old = read(
            "{\"parameters\":[{\"id\":1,\"name\":\"x\"}],\"callpaths\":[{\"id\":7,\"name\":\"sweep\"}],\
             \"metrics\":[{\"id\":1,\"name\":\"time\"}],\"coordinates\":[\
             {\"id\":2,\"parameter_value_pairs\":[{\"parameter_id\":1,\"parameter_value\":8}]},\
             {\"id\":1,\"parameter_value_pairs\":[{\"parameter_id\":1,\"parameter_value\":4}]}],\
             \"measurements\":[\
             {\"coordinate_id\":1,\"callpath_id\":7,\"metric_id\":1,\"value\":1},\
             {\"coordinate_id\":2,\"callpath_id\":7,\"metric_id\":1,\"value\":3},\
             {\"coordinate_id\":1,\"callpath_id\":7,\"metric_id\":1,\"value\":2}]}",
        )
        .unwrap();
        for experiment in [new, old] {
            assert_eq!(experiment.coordinates, [Box::from([4.0]), Box::from([8.0])]);
            assert_eq!(experiment.sets[0].callpath, "sweep");
            assert_eq!(experiment.sets[0].measurements[0].values, [1.0, 2.0]);
            assert_eq!(experiment.sets[0].measurements[1].values, [3.0]);
        }
    }

    #[test]
    fn errors_say_what_is_missing() {
        for (text, message) in [
            (
                "{\n\"parameters\":[\"x\"]}",
                "x.json:2: expected a JSON document with `parameters` and `measurements`",
            ),
            (
                "{\"parameters\":[\"x\"],\
                 \"measurements\":{\"a\":{\"b\":[{\"point\":[1,2],\"values\":[1]}]}}}",
                "x.json: expected points of 1 values, one for each parameter, found [1.0, 2.0]",
            ),
            (
                "{\"parameters\":[{\"id\":1,\"name\":\"x\"}],\"callpaths\":[],\"metrics\":[],\
                 \"coordinates\":[],\
                 \"measurements\":[{\"coordinate_id\":1,\"callpath_id\":7,\"metric_id\":1,\"value\":1}]}",
                "x.json: expected a coordinate with id 1, found none",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
