//! Writes TMIO's JSON (one object) and JSONL (seven lines for each flush), to the byte.

use super::number::{write_e2, write_f6};
use super::phases::{Phase, rate};
use super::summary::{Statistics, Totals};
use super::{Flush, Mode};
use std::io::{self, Write};

/// Writes the file of a finished job.
pub fn json(flush: &Flush<'_>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\n")?;
    for mode in Mode::ALL {
        Section { out: &mut *out, layout: Layout::Json }.write(flush, mode)?;
    }
    Section { out: &mut *out, layout: Layout::Json }.io_time(flush)?;
    out.write_all(b"}\n")
}

/// Writes the lines of one flush; further flushes are appended.
pub fn jsonl(flush: &Flush<'_>, out: &mut impl Write) -> io::Result<()> {
    for mode in Mode::ALL {
        Section { out: &mut *out, layout: Layout::Jsonl }.write(flush, mode)?;
    }
    Section { out: &mut *out, layout: Layout::Jsonl }.io_time(flush)
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Json,
    Jsonl,
}

/// The keys of `io_time` and what TMIO puts before their values.
const IO_TIME: [(&str, &str); 17] = [
    ("delta_t_agg", " "),
    ("delta_t_agg_io", " "),
    ("delta_t_sr", "  "),
    ("delta_t_ara", " "),
    ("delta_t_arr", " "),
    ("delta_t_ar_lost", ""),
    ("delta_t_sw", "  "),
    ("delta_t_awa", " "),
    ("delta_t_awr", " "),
    ("delta_t_aw_lost", "  "),
    ("delta_t_overhead", " "),
    ("delta_t_overhead_post_runtime", " "),
    ("delta_t_overhead_peri_runtime", " "),
    ("delta_t_rank0", " "),
    ("delta_t_rank0_app", " "),
    ("delta_t_rank0_overhead_post_runtime", " "),
    ("delta_t_rank0_overhead_peri_runtime", " "),
];

struct Section<'a, W> {
    out: &'a mut W,
    layout: Layout,
}

impl<W: Write> Section<'_, W> {
    fn line_end(&self) -> &'static str {
        if self.layout == Layout::Json { "\n" } else { "" }
    }

    fn indent(&self, depth: usize) -> &'static str {
        let tabs = if self.layout == Layout::Json { depth } else { 0 };
        "\t\t\t".get(..tabs).unwrap_or_default()
    }

    fn open(&mut self, name: &str) -> io::Result<()> {
        let brace = if self.layout == Layout::Jsonl { "{" } else { "" };
        write!(self.out, "\t{brace}\"{name}\":{{{}", self.line_end())
    }

    fn integer(&mut self, key: &str, value: u64) -> io::Result<()> {
        write!(self.out, "{}\"{key}\": {value},{}", self.indent(1), self.line_end())
    }

    fn bytes(&mut self, key: &str, value: u64) -> io::Result<()> {
        write!(self.out, "{}\"{key}\": ", self.indent(1))?;
        write_e2(self.out, value as f64)?;
        write!(self.out, ",{}", self.line_end())
    }

    fn write(mut self, flush: &Flush<'_>, mode: Mode) -> io::Result<()> {
        let (phases, class) = (flush.phases, mode.class());
        let totals = Totals::of(phases, class);
        self.open(mode.name())?;
        self.bytes("total_bytes", totals.total_bytes)?;
        self.bytes("max_bytes_per_rank", totals.max_bytes_per_rank)?;
        self.bytes("max_bytes_per_phase", totals.max_bytes_per_phase)?;
        self.integer("max_io_phases_per_rank", totals.max_io_phases_per_rank)?;
        self.integer("total_io_phases", totals.total_io_phases)?;
        self.integer("max_io_ops_in_phase", totals.max_io_ops_in_phase)?;
        self.integer("max_io_ops_per_rank", totals.max_io_ops_per_rank)?;
        self.integer("total_io_ops", totals.total_io_ops)?;
        self.integer("number_of_ranks", totals.number_of_ranks)?;
        write!(self.out, "{}\"bandwidth\": {{{}{}", self.indent(1), self.line_end(), self.indent(2))?;
        self.statistics(flush, mode)?;

        // After how many numbers TMIO breaks the lists of its JSON.
        let per_line = match totals.max_io_ops_in_phase {
            1 => totals.number_of_ranks,
            operations => operations,
        };
        let of_phase = |of: fn(&Phase) -> f64| phases.of_class(class).map(move |(_, phase)| of(&phase));
        let start = |phase: &Phase| seconds(phase.start);
        if mode.is_required() {
            self.list("b_rank_sum", per_line, of_phase(|phase| phase.required_sum))?;
            self.list("b_rank_avr", per_line, of_phase(Phase::required))?;
            self.list("t_rank_s", per_line, of_phase(start))?;
            self.list(
                "t_rank_e",
                per_line,
                of_phase(|phase| seconds(phase.required_end.unwrap_or(phase.end))),
            )?;
        } else {
            self.list("b_rank_avr", per_line, of_phase(Phase::throughput))?;
            self.list("b_rank_sum", per_line, of_phase(|phase| phase.throughput_sum))?;
            self.list("t_rank_s", per_line, of_phase(start))?;
            self.list("t_rank_e", per_line, of_phase(|phase| seconds(phase.end)))?;
        }
        if Mode::required(class).is_none() {
            self.list("b_ind", per_line, of_phase(Phase::throughput))?;
            self.list("t_ind_s", per_line, of_phase(start))?;
            self.list("t_ind_e", per_line, of_phase(|phase| seconds(phase.end)))?;
        } else {
            let required = mode.is_required();
            // Start, end and bytes of every request, as this section sees it.
            let requests = || {
                phases.requests(class).map(move |(_, request)| {
                    (request.start, if required { request.required_end } else { request.end }, request.bytes)
                })
            };
            self.list("b_ind", per_line, requests().map(|(start, end, bytes)| rate(bytes, start, end)))?;
            self.list("t_ind_s", per_line, requests().map(|(start, _, _)| seconds(start)))?;
            self.list("t_ind_e", per_line, requests().map(|(_, end, _)| seconds(end)))?;
        }
        self.out.write_all(match self.layout {
            Layout::Json => b"\n\t\t}\n\t\t},\n\n",
            Layout::Jsonl => b"}}}\n",
        })
    }

    fn statistics(&mut self, flush: &Flush<'_>, mode: Mode) -> io::Result<()> {
        let separator = format!(",{}{}", self.line_end(), self.indent(2));
        let bandwidth =
            if mode.is_required() { |phase: &Phase| phase.required_sum } else { Phase::throughput };
        let means = Statistics::of(flush.phases, mode.class(), bandwidth);
        let keys = [
            ("weighted_harmonic_mean", means.weighted_harmonic_mean),
            ("harmonic_mean", means.harmonic_mean),
            ("arithmetic_mean", means.arithmetic_mean),
            ("median", means.median),
            ("max", means.max),
            ("min", means.min),
        ];
        self.scalars(&keys, &separator)?;
        if mode.is_required() {
            let means = Statistics::of(flush.phases, mode.class(), Phase::required);
            let keys = [
                ("weighted_avr_harmonic_mean", means.weighted_harmonic_mean),
                ("harmonic_avr_mean", means.harmonic_mean),
                ("arithmetic_avr_mean", means.arithmetic_mean),
                ("median_avr", means.median),
                ("max_avr", means.max),
                ("min_avr", means.min),
            ];
            self.out.write_all(separator.as_bytes())?;
            self.scalars(&keys, &separator)?;
        }
        Ok(())
    }

    fn scalars(&mut self, keys: &[(&str, f64)], separator: &str) -> io::Result<()> {
        for (place, (key, value)) in keys.iter().enumerate() {
            let before = if place == 0 { "" } else { separator };
            write!(self.out, "{before}\"{key}\": ")?;
            write_e2(self.out, *value)?;
        }
        Ok(())
    }

    fn list(&mut self, key: &str, per_line: u64, values: impl Iterator<Item = f64>) -> io::Result<()> {
        write!(self.out, ",{}{}\"{key}\": [", self.line_end(), self.indent(2))?;
        for (place, value) in values.enumerate() {
            if place > 0 {
                self.out.write_all(b",")?;
            }
            if self.layout == Layout::Json && (place as u64).checked_rem(per_line) == Some(0) {
                self.out.write_all(b"\n\t\t\t")?;
            }
            self.out.write_all(b" ")?;
            write_f6(self.out, value)?;
        }
        self.out.write_all(b"]")
    }

    fn io_time(mut self, flush: &Flush<'_>) -> io::Result<()> {
        self.open("io_time")?;
        for (place, (key, space)) in IO_TIME.into_iter().enumerate() {
            write!(self.out, "{}\"{key}\":{space}", self.indent(2))?;
            write_e2(self.out, flush.io_time.get(key).unwrap_or_default())?;
            let comma = if place + 1 < IO_TIME.len() { "," } else { "" };
            write!(self.out, "{comma}{}", self.line_end())?;
        }
        self.out.write_all(if self.layout == Layout::Json { b"\t\t}\n" } else { b"}}\n" })
    }
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}
