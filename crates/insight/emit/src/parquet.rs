//! Parquet, which pandas, polars, DuckDB, Spark and R read: a row per operation, or per time of samples.
//!
//! A file is written in groups of rows, so that memory does not grow with the trace. Columns are compressed
//! by gzip, for which this program has the code anyway.

use crate::exporter::Exporter;
use crate::samples::Samples;
use ::parquet::basic::{Compression, GzipLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::TypePtr;
use ::parquet::schema::{parser::parse_message_type, types::Type};
use std::io::{self, Write};
use std::sync::Arc;
use tmio_trace::Event;

/// Rows of a group.
const GROUP: usize = 1 << 17;

/// Times are seconds of job time. What an operation does not have is null: the class of one that moves no
/// data, an unknown file or offset, and what only nonblocking ones have.
const OPERATIONS: &str = "message operations {
    required int32 rank (INTEGER(32, false));
    required int32 thread (INTEGER(32, false));
    required double start;
    required double end;
    required int64 bytes (INTEGER(64, false));
    required binary kind (STRING);
    optional binary class (STRING);
    optional binary file (STRING);
    optional int64 offset;
    optional double issued;
    optional double deadline;
}";

/// The name of the program in the file, and of what is known about the job.
const CREATOR: &str = concat!("ftio ", env!("CARGO_PKG_VERSION"));
const JOB: &str = "ftio.job";

/// Operations that are not written yet, by column.
#[derive(Debug, Default)]
struct Rows {
    rank: Vec<i32>,
    thread: Vec<i32>,
    start: Vec<f64>,
    end: Vec<f64>,
    bytes: Vec<i64>,
    kind: Vec<ByteArray>,
    class: Vec<Option<ByteArray>>,
    file: Vec<Option<ByteArray>>,
    offset: Vec<Option<i64>>,
    issued: Vec<Option<f64>>,
    deadline: Vec<Option<f64>>,
}

/// Writes operations.
pub struct Parquet<W: Write + Send> {
    out: SerializedFileWriter<W>,
    rows: Rows,
}

impl<W: Write + Send> std::fmt::Debug for Parquet<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parquet").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Parquet<W> {
    /// Into this.
    pub fn new(out: W) -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(OPERATIONS)?);
        Ok(Parquet { out: writer(out, schema)?, rows: Rows::default() })
    }

    /// Write the rows as a group.
    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.rank.is_empty() {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        required::<Int32Type, _>(&mut group, &rows.rank)?;
        required::<Int32Type, _>(&mut group, &rows.thread)?;
        required::<DoubleType, _>(&mut group, &rows.start)?;
        required::<DoubleType, _>(&mut group, &rows.end)?;
        required::<Int64Type, _>(&mut group, &rows.bytes)?;
        required::<ByteArrayType, _>(&mut group, &rows.kind)?;
        optional::<ByteArrayType, _>(&mut group, rows.class)?;
        optional::<ByteArrayType, _>(&mut group, rows.file)?;
        optional::<Int64Type, _>(&mut group, rows.offset)?;
        optional::<DoubleType, _>(&mut group, rows.issued)?;
        optional::<DoubleType, _>(&mut group, rows.deadline)?;
        group.close()?;
        Ok(())
    }
}

impl<W: Write + Send> Exporter for Parquet<W> {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Header(header) => {
                let about = serde_json::to_string(header)?;
                self.out.append_key_value_metadata(KeyValue::new(JOB.to_owned(), about));
                Ok(())
            }
            Event::Rank(_) => Ok(()),
            Event::Block(block) => {
                // Names are shared by the rows that have them.
                let files: Vec<(u32, ByteArray)> =
                    block.files.iter().map(|(number, name)| (*number, ByteArray::from(&**name))).collect();
                for op in block.operations {
                    let rows = &mut self.rows;
                    let file = files.iter().find(|(number, name)| *number == op.file && !name.is_empty());
                    rows.rank.push(block.rank as i32);
                    rows.thread.push(i32::from(op.thread));
                    rows.start.push(seconds(op.start));
                    rows.end.push(seconds(op.end));
                    rows.bytes.push(op.bytes as i64);
                    rows.kind.push(ByteArray::from(op.kind.to_string().as_str()));
                    rows.class.push(op.kind.class().map(|class| ByteArray::from(class.name())));
                    rows.file.push(file.map(|(_, name)| name.clone()));
                    rows.offset.push(Some(op.offset).filter(|offset| *offset >= 0));
                    rows.issued.push(op.nonblocking.map(|times| seconds(times.issued)));
                    rows.deadline.push(op.nonblocking.map(|times| seconds(times.deadline)));
                    if rows.rank.len() == GROUP {
                        self.write_group()?;
                    }
                }
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write_group()?;
        self.out.finish()?;
        Ok(())
    }
}

/// A column of times, and one for each quantity.
pub fn samples(samples: &Samples, out: impl Write + Send) -> io::Result<()> {
    let column = |name: &str, is_optional: bool| {
        use ::parquet::basic::{Repetition, Type as Physical};
        let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(repetition).build().map(Arc::new)
    };
    let mut fields = vec![column("time", false)?];
    for name in &samples.names {
        fields.push(column(name, true)?);
    }
    let schema = Type::group_type_builder("samples").with_fields(fields).build()?;
    let mut out = writer(out, Arc::new(schema))?;
    let (times, rows): (Vec<f64>, Vec<&[Option<f64>]>) = samples.rows().unzip();
    let mut group = out.next_row_group()?;
    required::<DoubleType, _>(&mut group, &times)?;
    for i in 0..samples.names.len() {
        optional::<DoubleType, _>(&mut group, rows.iter().map(|row| row[i]).collect())?;
    }
    group.close()?;
    out.finish()?;
    Ok(())
}

fn writer<W: Write + Send>(out: W, schema: TypePtr) -> Result<SerializedFileWriter<W>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_created_by(CREATOR.to_owned());
    SerializedFileWriter::new(out, schema, Arc::new(properties.build()))
}

/// The next column of a group, which has a value in every row.
fn required<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    Ok(())
}

/// The next column of a group, which may have nulls.
fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let present: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, Some(&present), None)?;
        column.close()?;
    }
    Ok(())
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}
