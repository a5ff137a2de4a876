//! Arrays give what a table with the same numbers gives.

use ftio_core::detect::{Options, detect};
use sources::arrays::{RequestColumns, samples};
use sources::content::Content;
use sources::request::Class;
use sources::{OpenOptions, Opened, Rate, open_content};

/// What is found in an input, without its name.
fn found(opened: Opened) -> ftio_core::Detection {
    let source = opened.into_source().unwrap();
    detect("x", source, &Options::default()).unwrap().detection
}

fn table(text: String) -> Opened {
    let content = Content::from_bytes("x", text.into_bytes()).unwrap();
    open_content(content, &OpenOptions::default()).unwrap().remove(0)
}

#[test]
fn columns_give_what_a_table_of_them_gives() {
    let mut columns = RequestColumns { rank: Some(vec![]), class: Some(vec![]), ..Default::default() };
    let mut text = "rank,start,end,bytes,op\n".to_owned();
    for i in 0..60 {
        let start = 1.6e9 + 7.5 * f64::from(i / 4) + 0.1 * f64::from(i % 4);
        let class = if i % 10 == 9 { Class::ReadSync } else { Class::WriteSync };
        text += &format!("{},{start},{},1048576,{}\n", i % 4, start + 0.5, class.name());
        columns.start.push(start);
        columns.end.push(start + 0.5);
        columns.bytes.push(1048576.0);
        columns.rank.as_mut().unwrap().push(i64::from(i % 4));
        columns.class.as_mut().unwrap().push(class);
    }
    let of_columns = found(columns.open("x").unwrap());
    assert!((of_columns.period.unwrap() - 7.5).abs() < 0.05);
    assert_eq!(of_columns, found(table(text)));
}

#[test]
fn samples_give_what_a_table_of_them_gives() {
    let times: Vec<f64> = (0..400).map(f64::from).collect();
    let values: Vec<f64> = (0..400).map(|i| if i % 20 < 3 { 1e6 } else { 0.0 }).collect();
    for (quantity, header) in [("bandwidth", "time,bandwidth"), ("load", "time,load")] {
        let rows = times.iter().zip(&values).map(|(time, value)| format!("{time},{value}\n"));
        let text = format!("{header}\n{}", rows.collect::<String>());
        let of_arrays = found(samples("x", quantity, &times, &values, Rate::Auto).unwrap());
        assert!((of_arrays.period.unwrap() - 20.0).abs() < 0.1);
        assert_eq!(of_arrays, found(table(text)));
    }
}

#[test]
fn unusable_columns_are_refused_and_unusable_rows_left_out() {
    let empty = RequestColumns::default().open("x").unwrap_err().to_string();
    assert_eq!(empty, "x: is empty");
    let uneven = samples("x", "load", &[1.0], &[], Rate::Auto).unwrap_err().to_string();
    assert!(uneven.contains("1 and 0 values"), "{uneven}");
    let columns = RequestColumns {
        start: vec![0.0, f64::NAN, 2.0],
        end: vec![0.5, 1.5, 2.5],
        bytes: vec![1.0, 1.0, -1.0],
        ..Default::default()
    };
    let found = found(columns.open("x").unwrap());
    assert_eq!(found.requests, Some(1));
    assert!(found.notes.iter().any(|note| note.contains("2 entries were left out; row 1")), "{found:?}");
}
