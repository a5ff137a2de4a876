//! Reads TMIO's JSON and JSONL, and what others write in their likeness for FTIO.
//!
//! Both are a sequence of objects whose members are sections: JSON is one object with all of them,
//! JSONL one object a line with one section each.

use super::custom;
use super::digest::{Digest, Scalars, Series};
use super::io_time::IoTime;
use super::json_pull::Json;
use super::window::{Place, Problem};
use super::{Format, Mode, ReadOptions};
use std::io::{self, Read};

pub(super) fn read(input: impl Read, format: Format, options: ReadOptions) -> io::Result<Digest> {
    let mut reader = Reader { digest: Digest::new(format), options, flat: Vec::new() };
    let mut json = Json::new(input);
    loop {
        let problem = match json.peek() {
            Ok(None) => break,
            Ok(Some(_)) => json.object(|json, key| reader.member(json, key)),
            Err(problem) => Err(problem),
        };
        match problem {
            Ok(()) => {}
            Err(Problem::Io(error)) => return Err(error),
            Err(problem) => {
                reader.digest.warn(problem.to_string());
                match json.next_line_of_object() {
                    Ok(true) => {}
                    Ok(false) | Err(Problem::Cut { .. } | Problem::Unexpected { .. }) => break,
                    Err(Problem::Io(error)) => return Err(error),
                }
            }
        }
    }
    Ok(reader.finish())
}

struct Reader {
    digest: Digest,
    options: ReadOptions,
    /// Lists that stand outside any section.
    flat: Vec<(Vec<u8>, Vec<f64>)>,
}

impl Reader {
    fn member<R: Read>(&mut self, json: &mut Json<R>, key: &[u8]) -> Result<(), Problem> {
        if let Some(mode) = Mode::from_name(key) {
            return self.section(json, mode);
        }
        match (key, json.peek()?) {
            (b"io_time", _) => self.io_time(json),
            (b"bandwidth", Some(b'{')) => {
                self.digest.anonymous = true;
                self.bandwidth_alone(json)
            }
            ([b'b' | b't', ..], Some(b'[')) if self.flat.len() < 16 => {
                let mut list = Vec::new();
                json.numbers(&mut list)?;
                self.flat.push((key.to_vec(), list));
                Ok(())
            }
            _ => json.skip(),
        }
    }

    fn section<R: Read>(&mut self, json: &mut Json<R>, mode: Mode) -> Result<(), Problem> {
        let place = json.place();
        let options = self.options;
        let series = self.digest.series_mut(mode);
        let mark = series.mark();
        let mut scalars = Scalars::default();
        let mut megabytes = false;
        let result = json.object(|json, key| match key {
            b"bandwidth" => bandwidth(json, series, &mut scalars, options),
            _ => match scalars.get_mut(key) {
                Some(value) => {
                    // Only the versions that counted in MB had this key.
                    megabytes |= key == b"max_transfersize_over_ranks";
                    *value = json.number()?;
                    Ok(())
                }
                None => json.skip(),
            },
        });
        if result.is_err() {
            series.rewind(mark);
            return result;
        }
        if megabytes {
            self.digest.unit = 1e6;
        }
        self.add(place, mode, mark, scalars, megabytes);
        Ok(())
    }

    fn bandwidth_alone<R: Read>(&mut self, json: &mut Json<R>) -> Result<(), Problem> {
        let place = json.place();
        let series = self.digest.series_mut(Mode::ReadSync);
        let mark = series.mark();
        let mut scalars = Scalars::default();
        let result = bandwidth(json, series, &mut scalars, self.options);
        match result {
            Ok(()) => self.add(place, Mode::ReadSync, mark, scalars, false),
            Err(_) => series.rewind(mark),
        }
        result
    }

    /// Takes a section that is whole: checks its columns and merges it with those of earlier flushes.
    fn add(&mut self, place: Place, mode: Mode, mark: [usize; 10], mut scalars: Scalars, megabytes: bool) {
        let rescale = megabytes && !self.options.keep_units;
        let series = self.digest.series_mut(mode);
        custom::add_missing_ends(series, mark);
        let mismatch = drop_mismatched(series, mark);
        if rescale {
            scalars.scale(1e6);
            series.scale(mark, 1e6);
        }
        series.scalars.merge(&scalars, series.flushes);
        series.flushes += 1;
        if let Some(mismatch) = mismatch {
            self.digest.warn(format!("{place}: in {}, {mismatch}", mode.name()));
        }
    }

    fn io_time<R: Read>(&mut self, json: &mut Json<R>) -> Result<(), Problem> {
        let mut time = IoTime::default();
        json.object(|json, key| match time.get_mut(key) {
            Some(value) => {
                *value = json.number()?;
                Ok(())
            }
            None => json.skip(),
        })?;
        self.digest.flushes += 1;
        self.digest.io_time.get_or_insert_default().add(&time);
        Ok(())
    }

    fn finish(mut self) -> Digest {
        let digest = &mut self.digest;
        if !self.flat.is_empty() && !digest.has_sections() {
            match custom::from_lists(std::mem::take(&mut self.flat)) {
                Ok(series) => {
                    digest.anonymous = true;
                    *digest.series_mut(Mode::ReadSync) = series;
                }
                Err(problem) => digest.warn(problem),
            }
        }
        let flushes = Mode::ALL.map(|mode| digest.series(mode).flushes);
        let [read_sync, read_t, read_b, write_t, _, _] = flushes;
        // What FTIO takes for a file of TMIO's.
        digest.custom = [read_sync, read_t, read_b, write_t, digest.flushes].contains(&0);
        let most = flushes.into_iter().max().unwrap_or(0).max(digest.flushes);
        let is_ragged = flushes.iter().any(|&count| count != most) || digest.flushes != most;
        if is_ragged && !digest.custom && digest.complete {
            digest.warn(format!("at the end: expected all 7 sections of flush {most}, found some of them"));
        }
        digest.flushes = most;
        self.digest
    }
}

fn bandwidth<R: Read>(
    json: &mut Json<R>,
    series: &mut Series,
    scalars: &mut Scalars,
    options: ReadOptions,
) -> Result<(), Problem> {
    json.object(|json, key| {
        let (column, wanted) = match key {
            b"b_rank_avr" => (&mut series.b_rank_avr, true),
            b"b_rank_sum" => (&mut series.b_rank_sum, options.sums),
            b"t_rank_s" => (&mut series.t_rank_s, true),
            b"t_rank_e" => (&mut series.t_rank_e, true),
            b"b_ind" => (&mut series.b_ind, options.individual),
            b"t_ind_s" => (&mut series.t_ind_s, options.individual),
            b"t_ind_e" => (&mut series.t_ind_e, options.individual),
            b"b_overlap_avr" => (&mut series.b_overlap_avr, true),
            b"b_overlap_sum" => (&mut series.b_overlap_sum, options.sums),
            b"t_overlap" => (&mut series.t_overlap, true),
            _ => {
                if let Some(value) = scalars.statistic_mut(key) {
                    *value = json.number()?;
                    return Ok(());
                }
                return json.skip();
            }
        };
        if wanted { json.numbers(column) } else { json.skip() }
    })
}

/// Columns that belong together and were added since `mark` must be equally long, or missing; those
/// that are not are taken away and described.
fn drop_mismatched(series: &mut Series, mark: [usize; 10]) -> Option<String> {
    const NAMES: [&str; 10] = [
        "b_rank_avr",
        "b_rank_sum",
        "t_rank_s",
        "t_rank_e",
        "b_ind",
        "t_ind_s",
        "t_ind_e",
        "b_overlap_avr",
        "b_overlap_sum",
        "t_overlap",
    ];
    // Which columns belong together, and which of them has the times without which there is nothing.
    const GROUPS: [(std::ops::Range<usize>, usize); 3] = [(0..4, 2), (4..7, 5), (7..10, 9)];
    let added: Vec<usize> =
        series.columns_mut().iter().zip(mark).map(|(column, before)| column.len() - before).collect();
    let mut description = None;
    for (range, times) in GROUPS {
        let expected = added.get(times).copied().unwrap_or(0);
        let members = || added.iter().zip(NAMES).enumerate().filter(|(index, _)| range.contains(index));
        let wrong = members().find(|(_, (count, _))| **count != expected && (**count != 0 || expected == 0));
        let Some((_, (count, name))) = wrong else { continue };
        let time_name = NAMES.get(times).copied().unwrap_or_default();
        description.get_or_insert_with(|| {
            format!("expected as many numbers in {name} as in {time_name} ({expected}), found {count}")
        });
        let columns = series.columns_mut().into_iter().zip(mark).enumerate();
        for (_, (column, before)) in columns.filter(|(index, _)| range.contains(index)) {
            column.truncate(before);
        }
    }
    description
}
