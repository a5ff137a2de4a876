//! `ftio schema`: what the objects of `--json` hold, said by the types that are printed.

use crate::exit::Exit;
use crate::{advise, diff, model as formulas, recover, report, signature, simulate};
use clap::builder::PossibleValuesParser;
use ftio_core::detect::detection;
use inspect::summary;
use io_sets::arbiter::{PhaseReport, Report};
use mosaic::archive;
use perf_model::output::json as model;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  The fields of what `ftio --json` prints:
      ftio schema ftio.detection/1 | jq '.properties | keys'
  All of them, as files:
      ftio schema | while read -r name about; do ftio schema $name > ${name/\\//-}.json; done";

/// Print the JSON Schema of a result, or the names of all
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What the field `schema` of a result says, such as ftio.detection/1; without it all names are listed
    #[arg(value_name = "NAME", value_parser = names(), hide_possible_values = true)]
    pub name: Option<String>,
}

/// Objects that have one schema.
struct Kind {
    name: &'static str,
    /// The command that prints them, and the option by which it does.
    command: &'static str,
    option: &'static str,
    about: &'static str,
    schema: fn(SchemaGenerator) -> Schema,
}

/// Objects that `ftio COMMAND --json` prints.
const fn kind<T: JsonSchema>(name: &'static str, command: &'static str, about: &'static str) -> Kind {
    Kind { name, command, option: "--json", about, schema: SchemaGenerator::into_root_schema_for::<T> }
}

/// What the commands print, in the order of docs/json.md.
const KINDS: [Kind; 25] = [
    kind::<ftio_core::Detection>(detection::SCHEMA, "TRACE", "what was found in a trace, a rank or a file"),
    kind::<ftio_core::Prediction>(ftio_core::predict::SCHEMA, "predict", "a prediction, at a flush"),
    kind::<summary::Summary>(summary::SCHEMA, "info", "what an input holds"),
    kind::<recover::host::Record>("ftio.clean/1", "recover --host", "what was cleared away"),
    kind::<recover::Record<'_>>("ftio.recover/1", "recover OUT", "what was recovered"),
    kind::<advise::Record<'_>>("ftio.advice/1", "advise", "the findings of an input"),
    kind::<report::Record<'_>>("ftio.report/1", "report", "all of a report"),
    kind::<diff::Record<'_>>("ftio.diff/1", "diff", "what differs between two inputs"),
    kind::<model::Record<'_>>(model::SCHEMA, "model", "a formula"),
    kind::<formulas::RankRecord<'_>>("ftio.rank/1", "model --rank", "which callpath dominates at a scale"),
    kind::<formulas::settings::Listed<'_>>(
        "ftio.model-options/1",
        "model --set help",
        "an option of the fit",
    ),
    kind::<io_sets::follow::Record>("ftio.priority/1", "schedule", "a priority that changed"),
    kind::<Report>("ftio.arbiter/1", "top", "who holds and who waits"),
    kind::<PhaseReport>("ftio.phase/1", "arbiter", "an I/O phase that has ended"),
    kind::<io_sets::measure::Measured>(
        "ftio.measure/1",
        "measure",
        "stretch, I/O slowdown and utilisation of real runs",
    ),
    kind::<simulate::turns::Record<'_>>(
        "ftio.set10/1",
        "simulate turns",
        "an experiment, with the metrics of each policy",
    ),
    kind::<simulate::batch::Record<'_>>("ftio.batch/1", "simulate batch", "a workload under a policy"),
    kind::<batch_sim::traced::Queue>(
        "ftio.batch-queue/1",
        "simulate queue",
        "the I/O queue of jobs that share a file system",
    ),
    kind::<io_stage::live::Record>("ftio.stage/1", "stage", "a decision, or what became of it"),
    kind::<simulate::staging::Record>(
        "ftio.stage-simulate/1",
        "simulate staging",
        "a job, with the results of each policy",
    ),
    kind::<archive::Line<'_>>(archive::line::SCHEMA, "categorize", "a log and its categories"),
    Kind {
        option: "--summary FILE",
        ..kind::<archive::Summary>(archive::summary::SCHEMA, "categorize", "an archive in numbers")
    },
    kind::<io_signature::found::Found>(
        io_signature::found::SCHEMA,
        "signature",
        "an application's signature",
    ),
    kind::<signature::place::Record<'_>>(
        "ftio.signature-place/1",
        "signature place",
        "partitions and starts for a job",
    ),
    kind::<signature::stagger::Record<'_>>(
        "ftio.signature-stagger/1",
        "signature stagger",
        "starts of several jobs",
    ),
];

fn names() -> PossibleValuesParser {
    KINDS.each_ref().map(|kind| kind.name).into()
}

/// Print one schema, or what there is.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    match KINDS.iter().find(|kind| args.name.as_deref() == Some(kind.name)) {
        Some(kind) => {
            serde_json::to_writer_pretty(&mut out, &kind.schema()).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        None => {
            for kind in &KINDS {
                let Kind { name, about, command, option, .. } = kind;
                writeln!(out, "{name:<26} {about} (`ftio {command} {option}`)")?;
            }
        }
    }
    Ok(Exit::Done)
}

impl Kind {
    fn schema(&self) -> Schema {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let mut schema = (self.schema)(settings.with_transform(RecursiveTransform(closed)).into_generator());
        if self.name == model::SCHEMA {
            RecursiveTransform(null_if_not_finite).transform(&mut schema);
        }
        let Kind { command, option, about, .. } = self;
        let about = format!(
            "One object of `ftio {command} {option}`: {about}. New fields may be added; none changes its meaning."
        );
        schema.insert("title".into(), self.name.into());
        schema.insert("description".into(), about.into());
        if let Some(field) = schema.pointer_mut("/properties/schema") {
            *field = json!({"const": self.name});
        }
        schema
    }
}

/// An object holds no more than what its type says, and says so in plain text.
fn closed(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.ensure_object().entry("additionalProperties").or_insert(false.into());
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = plain(text);
    }
}

/// What is not finite is written as `null`, and there a formula may be so.
fn null_if_not_finite(schema: &mut Schema) {
    if schema.get("type") == Some(&"number".into()) {
        schema.insert("type".into(), json!(["number", "null"]));
    }
}

/// A comment of the code without its links to code.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else { break };
        plain += before;
        plain += name;
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    (plain + rest).replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}
