use super::*;
use crate::formats::named;
use crate::job::Job;
use crate::open::open_as;
use crate::options::OpenOptions;
use crate::request::{Class, Request, Span};
use proptest::prelude::*;

fn read(text: &str) -> Result<(Vec<Request>, Job), SourceError> {
    let content = Content::from_bytes("t.csv", text.as_bytes().to_vec())?;
    let source = open_as(content, named("csv").unwrap(), &OpenOptions::default())?.remove(0).into_source()?;
    let mut requests = Vec::new();
    let job = source.read(Span::Actual, &mut |batch| requests.extend_from_slice(batch))?;
    Ok((requests, job))
}

const SECOND: i64 = 1_000_000_000;

#[test]
fn requests_in_any_dress() {
    let expected = [
        Request { rank: Some(0), ..Request::new(0, SECOND, 100, Class::WriteSync) },
        Request { rank: Some(3), ..Request::new(SECOND / 2, 2 * SECOND, 50, Class::WriteSync) },
    ];
    for text in [
        "0,0,1,100\n3,0.5,2,50\n",
        "rank,start,end,bytes\n0,0,1,100\n3,0.5,2,50\n",
        "# made by hand\n\nbytes;end;start;rank\n100;1;0;0\r\n50;2;0,5;3\r\n",
        "\u{feff}rank\tstart_ms\tduration [ms]\tsize\n0\t0\t1000\t100\n3\t500\t1500\t50",
        "\"rank\",\"start\",\"end\",\"bytes\",\"comment\"\n0,0,1,100,\"a, b\"\n3,0.5,2,50,\n",
        "rank,start,end,bandwidth\n0,0,1,100\n3,0.5,2,33.3333333333\n",
        "Rank,Start Time,End-Time,Bytes\n0,0,1,100\n3,0.5,2,50\n",
    ] {
        assert!(looks_like(text.as_bytes()), "{text}");
        let (requests, job) = read(text).unwrap();
        assert_eq!(requests, expected, "{text}");
        assert_eq!((job.ranks, job.complete), (Some(4), true));
    }
}

#[test]
fn dates_in_small_units_are_dates() {
    for unit in ["", "000", "000000", "000000000"] {
        let text = format!("time,value\n1794821493{unit},5\n1794821494{unit},7\n");
        let (requests, job) = read(&text).unwrap();
        assert_eq!(requests.len(), 2, "{text}: {:?}", job.notes);
        let distance = requests[1].start - requests[0].start;
        assert!((distance - SECOND).abs() < 1000, "{text}: {distance}");
        let text = format!("start,end,bytes\n1794821493{unit},1794821494{unit},7\n");
        let (requests, _) = read(&text).unwrap();
        assert!((requests[0].end - requests[0].start - SECOND).abs() < 1000, "{text}");
    }
    // A table in nanoseconds from its own beginning is not one of dates, however long it goes on.
    let (requests, _) = read("start,end,bytes\n0,1,5\n200000000000,200000000001,5\n").unwrap();
    assert!(requests.is_empty() || requests.last().is_some_and(|last| last.start != 200 * SECOND));
}

#[test]
fn points_for_thousands() {
    assert_eq!(columns::number("1.234,5", ';'), Some(1234.5));
    assert_eq!(columns::number("-1.234.567,25", ';'), Some(-1_234_567.25));
    assert_eq!(columns::number("0,25", ';'), Some(0.25));
    assert_eq!(columns::number("1.23,5", ';'), None);
    assert_eq!(columns::number("1.234,5", ','), None);
}

#[test]
fn commas_for_thousands_in_quotes() {
    for (text, value) in [("1,000", 1e3), ("-12,345,678.25", -12_345_678.25), ("999", 999.0)] {
        assert_eq!(columns::number(text, ','), Some(value));
    }
    // What may be a decimal comma is no number, rather than a wrong one.
    for text in ["0,125", "1,5", "1,0000", ",000", "1,00a", "1234,567", "1,234,5", "-,123", "1,000.x"] {
        assert_eq!(columns::number(text, ','), None, "{text}");
    }
    assert_eq!(columns::number("1,000", '\t'), None);
}

#[test]
fn a_separator_at_the_end_makes_no_column() {
    let content = Content::from_bytes("t.csv", b"time,load,\n0,1,\n1,2,\n".to_vec()).unwrap();
    let found = open_as(content, named("csv").unwrap(), &OpenOptions::default()).unwrap();
    assert_eq!(found.len(), 1);
    let problem = read("time,value\n1,5\n").unwrap_err().to_string();
    assert!(problem.contains("at least two samples, found one"), "{problem}");
}

#[test]
fn operations_tell_the_class() {
    let (requests, _) =
        read("start,end,bytes,op\n0,1,5,read\n1,2,6,W\n2,3,7,write_async\n3,4,8,open\n").unwrap();
    let classes: Vec<Class> = requests.iter().map(|request| request.class).collect();
    assert_eq!(classes, [Class::ReadSync, Class::WriteSync, Class::WriteAsync]);
}

#[test]
fn the_table_that_convert_writes() {
    let (requests, job) = read(
        &[
            "rank,start,end,bytes,kind,file,offset\n0,0,1,0,open,a,-1\n0,1,2,6,read_at,a,0\n",
            "0,2,3,7,write_all,a,0\n0,3,4,8,iwrite_at_all,a,0\n0,4,5,9,iread_shared,a,0\n0,5,6,0,close,a,-1\n",
        ]
        .concat(),
    )
    .unwrap();
    let classes: Vec<Class> = requests.iter().map(|request| request.class).collect();
    assert_eq!(classes, [Class::ReadSync, Class::WriteSync, Class::WriteAsync, Class::ReadAsync]);
    assert_eq!(job.warnings, [""; 0], "metadata is left out without a word");
    // A column of that name may mean something else.
    let (requests, _) = read("start,end,bytes,kind\n0,1,5,checkpoint\n").unwrap();
    assert_eq!(requests.len(), 1);
}

#[test]
fn samples_hold_until_the_next_one() {
    let (requests, job) = read("time,value\n0,8\n1,0\n2,8\n3,0\n").unwrap();
    let per_unit = job.per_unit.unwrap();
    let spans: Vec<_> = requests.iter().map(|r| (r.start, r.end, r.bytes as f64 / per_unit)).collect();
    let second = |n: i64| n * SECOND;
    assert_eq!(
        spans,
        [
            (0, second(1), 8.0),
            (second(1), second(2), 0.0),
            (second(2), second(3), 8.0),
            (second(3), second(4), 0.0)
        ]
    );
}

#[test]
fn small_and_negative_values_keep_their_digits() {
    let (requests, job) = read("t;load\n0;-0,25\n1;0,5\n2;0,125\n").unwrap();
    let per_unit = job.per_unit.unwrap();
    let values: Vec<f64> = requests.iter().map(|r| r.bytes as f64 / per_unit).collect();
    assert_eq!(values, [0.0, 0.75, 0.375]);
    assert!(job.notes.iter().any(|note| note.contains("-0.25")), "{:?}", job.notes);
}

#[test]
fn each_column_of_samples_is_a_series() {
    let content = Content::from_bytes("x", b"time,a,b\n0,1,2\n1,3,4\n2,5,\n".to_vec()).unwrap();
    let names: Vec<String> = open_as(content, named("csv").unwrap(), &OpenOptions::default())
        .unwrap()
        .into_iter()
        .map(|o| o.name)
        .collect();
    assert_eq!(names, ["x: a", "x: b"]);
}

#[test]
fn rows_that_cannot_be_used_are_counted_and_the_first_is_named() {
    let (requests, job) =
        read("0,0,1,10\n0,x,1,10\n0,1\n0,nan,2,10\n0,2,inf,10\n0,2,3,-1\n0,3,4,10\n").unwrap();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        job.warnings,
        ["t.csv: 5 entries were left out; line 2: expected a number or a date, found \"x\""]
    );
    assert!(!job.complete);
    // An end before the start: the bytes are known, so they count, at the start.
    assert_eq!(read("0,5,4,10\n").unwrap().0[0].bytes, 10);
    let error = read("rank,start,end,bandwidth\n0,5,4,10\n").unwrap_err().to_string();
    assert!(error.starts_with("t.csv: holds nothing usable; line 2: expected finite times"), "{error}");
}

#[test]
fn what_is_no_table_is_said() {
    for (text, expected) in [
        ("1,2,3,4,5\n", "t.csv: line 1: expected 2 columns (time, value)"),
        ("a,b\n1,2\n", "t.csv: line 1: expected columns start, end"),
        ("start_fortnights,end,bytes\n", "t.csv: line 1: expected columns"),
        ("# nothing\n", "t.csv: expected rows, found none"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    for text in ["", "word", "Lorem ipsum, dolor sit amet\nconsetetur\n", "{\"a\": [1, 2]}", "key: value\n"] {
        assert!(!looks_like(text.as_bytes()), "{text}");
    }
}

#[test]
fn times_that_go_backwards_are_put_in_order() {
    let (requests, job) = read("time,value\n2,5\n0,1\n1,3\n").unwrap();
    assert!(requests.is_sorted_by_key(|request| request.start));
    assert_eq!(job.notes.len(), 2, "{:?}", job.notes);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "[0-9a-z.,;\t\n\"# -]{0,120}") {
        let _ = looks_like(text.as_bytes());
        let _ = read(&text);
    }

    #[test]
    fn every_written_request_is_read(
        rows in prop::collection::vec(
            (0u32..100, 0i64..1_000_000, 0i64..1_000_000, any::<u32>()),
            1..50,
        ),
    ) {
        let text: String = rows
            .iter()
            .map(|(rank, start, length, bytes)| {
                let (from, to) = (*start as f64 / 1e3, (start + length) as f64 / 1e3);
                format!("{rank},{from},{to},{bytes}\n")
            })
            .collect();
        let (requests, _) = read(&text).unwrap();
        let expected: Vec<Request> = rows
            .iter()
            .map(|&(rank, start, length, bytes)| Request {
                rank: Some(rank),
                ..Request::new(
                    start * 1_000_000,
                    (start + length) * 1_000_000,
                    bytes.into(),
                    Class::WriteSync,
                )
            })
            .collect();
        prop_assert_eq!(requests, expected);
    }
}

/// Rows of which a space before each keeps the quick way away.
fn carefully(text: &str) -> String {
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<String> = rows.lines().map(|row| format!(" {row}\n")).collect();
    format!("{header}\n{}", rows.concat())
}

const FIELD: &str = "[0-9]{0,20}|[0-9]{1,9}\\.[0-9]{0,12}|-?[0-9.]{1,4}|[0-9]e[0-9]|\\PC{0,3}";

proptest! {
    /// Numbers in any dress, words and stray characters: the quick way says what the careful one says.
    /// Excerpts in messages may differ by the blank that makes a text careful: a field in quotes goes on in
    /// the next line.
    #[test]
    fn plain_rows_are_read_as_carefully(
        rows in prop::collection::vec(
            prop::collection::vec(FIELD, 3..6),
            1..20,
        ),
        ops in prop::collection::vec("read|write|W|open|iwrite_at| r |x", 20),
        separator in prop::sample::select(vec![",", ";", "\t"]),
        line_break in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text = ["start", "end", "bytes", "op"].join(separator) + "\n0" + separator + "1" + separator
            + "5" + separator + "w\n";
        for (row, op) in rows.iter().zip(&ops) {
            let mut fields: Vec<&str> = row.iter().map(String::as_str).collect();
            fields.insert(3, op);
            text += &fields.join(separator);
            text += line_break;
        }
        let (quick, careful) = (read(&text), read(&carefully(&text)));
        match (quick, careful) {
            (Ok((quick, job)), Ok((careful, other))) => {
                prop_assert_eq!(quick, careful);
                let said = |job: &Job| format!("{:?} {:?}", job.warnings, job.notes).replace(' ', "");
                prop_assert_eq!(said(&job), said(&other));
            }
            (quick, careful) => prop_assert_eq!(quick.is_err(), careful.is_err()),
        }
    }
}

#[test]
fn a_long_table_is_read_in_its_order() {
    let row = |i: u64| match i % 1000 {
        0 => format!("\"{i}\",{},{},{}\n", i, i + 1, i),
        1 => "# a remark\n".to_owned(),
        2 => format!("{},no number,1,1\n", i % 64),
        _ => format!("{},{}.25,{}.5,{}\n", i % 64, i, i, i),
    };
    let count = 50_000;
    let text: String = (0..count).map(row).collect();
    let (requests, job) = read(&format!("rank,start,end,bytes\n{text}")).unwrap();
    let expected: Vec<u64> = (0..count).filter(|i| !(1..=2).contains(&(i % 1000))).collect();
    let bytes: Vec<u64> = requests.iter().map(|request| request.bytes).collect();
    assert_eq!(bytes, expected);
    assert!(job.warnings[0].contains("50 entries were left out; line 4:"), "{:?}", job.warnings);
    assert!(!job.complete);
}
