//! An open log, and the way to each of its parts.

use std::borrow::Cow;
use std::path::Path;

use crate::counters::{Activity, FileRecord};
use crate::darshan1;
use crate::darshan2::{self, Darshan2Records};
use crate::dxt::Dxt;
use crate::endian::ByteOrder;
use crate::error::{Error, Result, show_bytes};
use crate::format::Format;
use crate::header;
use crate::heatmap::{Heatmap, Heatmaps};
use crate::inflate::Compression;
use crate::job::{Job, Mount};
use crate::limits::Limits;
use crate::module::{Layer, ModuleId, ModuleInfo};
use crate::names::Names;
use crate::records::Records;
use crate::region::{Extent, Region};
use crate::source::Source;
use crate::totals::{self, Contents, CounterTotals, ModuleTotals};
use crate::{MpiioRecord, PosixRecord, StdioRecord};

/// A Darshan log.
///
/// Opening reads the header and the job. Everything else is decompressed when it is asked for, and again each
/// time: [`heatmap`](Log::heatmap) does not touch DXT. Iterators borrow the log, are independent of each
/// other, and take a few buffers of memory however large the log is. A module that the log does not have
/// yields nothing.
#[derive(Debug)]
pub struct Log {
    file: Box<str>,
    source: Source,
    limits: Limits,
    format: Format,
    order: ByteOrder,
    compression: Compression,
    names: Extent,
    modules: Vec<ModuleInfo>,
    job: Job,
}

impl Log {
    /// Opens the log in a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Log> {
        Log::open_with(path, Limits::default())
    }

    /// Opens the log in a file, with other limits than the default ones.
    pub fn open_with(path: impl AsRef<Path>, limits: Limits) -> Result<Log> {
        let path = path.as_ref();
        let name = path.to_string_lossy();
        let source = Source::open(path, &name)?;
        Log::read(name.into(), source, limits)
    }

    /// Reads a log from memory. Messages call it `<memory>`.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Log> {
        Log::from_bytes_with("<memory>", bytes, Limits::default())
    }

    /// Reads a log from memory under a name for messages, with limits.
    pub fn from_bytes_with(name: &str, bytes: impl Into<Vec<u8>>, limits: Limits) -> Result<Log> {
        Log::read(name.into(), Source::Memory(bytes.into()), limits)
    }

    fn read(file: Box<str>, source: Source, limits: Limits) -> Result<Log> {
        let mut head = [0; 16];
        let got = source.read_at(0, &mut head).map_err(|source| Error::Io {
            file: file.clone(),
            action: "read",
            source,
        })?;
        match &head[..got] {
            [0x1f, 0x8b, ..] => return Log::read_2(file, source, limits, Compression::Gzip),
            [b'B', b'Z', ..] => return Log::read_2(file, source, limits, Compression::Bzip2),
            _ => {}
        }
        let format = recognise(&file, &head[..got])?;
        if !format.has_modules() {
            return Log::read_2(file, source, limits, Compression::None);
        }
        let header = header::read(&file, &source, format)?;
        let region =
            Region::new(&file, &source, header.compression, &limits, Cow::Borrowed("job"), header.job);
        let job = Job::read_3(format, header.order, region)?;
        Ok(Log {
            file,
            source,
            limits,
            format,
            order: header.order,
            compression: header.compression,
            names: header.names,
            modules: header.modules,
            job,
        })
    }

    fn read_2(file: Box<str>, source: Source, limits: Limits, compression: Compression) -> Result<Log> {
        let whole = Extent { start: 0, len: source.len() };
        let mut region = Region::new(&file, &source, compression, &limits, Cow::Borrowed("log"), whole);
        let head: [u8; 16] =
            region.take_promised(16, "a version and magic number")?.try_into().unwrap_or_default();
        let format = recognise(&file, &head)?;
        if format.has_modules() {
            return Err(Error::Unsupported {
                file,
                what: "a compressed file around a log".into(),
                expected: "Darshan 1 or 2 inside".into(),
                found: format!("format {format}, which has its own compression: unpack the file first"),
            });
        }
        let (order, job) = if format.major == 1 {
            (darshan1::ORDER, darshan1::read_job(head, &mut region)?)
        } else {
            let order = order_of(&file, &head)?;
            (order, darshan2::read_job(format, order, &mut region)?)
        };
        drop(region);
        let (names, modules) = (Extent::default(), Vec::new());
        Ok(Log { file, source, limits, format, order, compression, names, modules, job })
    }

    /// The file the log was opened from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The version of the log format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The byte order of the machine that wrote the log.
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// How the log is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// What the log says about the job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The file systems that were mounted.
    pub fn mounts(&self) -> &[Mount] {
        &self.job.mounts
    }

    /// The modules that have data, or would have had memory sufficed, in the order of their numbers. Modules
    /// whose records this crate does not read are listed as well. Darshan 2 has none.
    pub fn modules(&self) -> &[ModuleInfo] {
        &self.modules
    }

    /// What the header says about a module, if the log has it.
    pub fn module(&self, id: ModuleId) -> Option<&ModuleInfo> {
        self.modules.iter().find(|m| m.id == id)
    }

    /// Whether any module is partial: Darshan ran out of memory and files or operations are missing.
    pub fn is_partial(&self) -> bool {
        self.modules.iter().any(|m| m.partial)
    }

    /// Whether timestamps count from the start of the job. Up to format 2.02 they may be absolute, or count
    /// from some other time; [`activities`](Log::activities) corrects the former.
    pub fn has_relative_timestamps(&self) -> bool {
        self.format > Format::new(2, 2)
    }

    /// The table of names. Darshan 2 has none: its records carry the end of their name.
    pub fn names(&self) -> Result<Names> {
        if self.names.len == 0 {
            return Ok(Names::default());
        }
        let region = self.region(Cow::Borrowed("names"), self.names);
        Names::read(self.format, self.order, region, self.limits.name_bytes)
    }

    /// Records of the POSIX module.
    pub fn posix(&self) -> Records<'_, PosixRecord> {
        self.records()
    }

    /// Records of the MPI-IO module.
    pub fn mpiio(&self) -> Records<'_, MpiioRecord> {
        self.records()
    }

    /// Records of the STDIO module.
    pub fn stdio(&self) -> Records<'_, StdioRecord> {
        self.records()
    }

    /// Records of a counter module, by their type.
    pub fn records<R: FileRecord>(&self) -> Records<'_, R> {
        Records::new(self.order, self.module_region(R::MODULE))
    }

    /// Heatmaps per layer and rank.
    pub fn heatmaps(&self) -> Heatmaps<'_> {
        let region = self.module_region(ModuleId::HEATMAP);
        Heatmaps::new(self.order, region, self.limits.heatmap_bins)
    }

    /// The heatmap of a layer, summed over ranks; `None` if the log has none.
    pub fn heatmap(&self, layer: Layer) -> Result<Option<Heatmap>> {
        let mut sum = Heatmap::new(layer);
        for record in self.heatmaps() {
            let record = record?;
            if record.layer() == Some(layer) {
                sum.add(&record);
            }
        }
        Ok((sum.records > 0).then_some(sum))
    }

    /// Every POSIX read and write, where DXT was enabled.
    pub fn dxt_posix(&self) -> Dxt<'_> {
        self.dxt(ModuleId::DXT_POSIX)
    }

    /// Every MPI-IO read and write, where DXT was enabled.
    pub fn dxt_mpiio(&self) -> Dxt<'_> {
        self.dxt(ModuleId::DXT_MPIIO)
    }

    fn dxt(&self, module: ModuleId) -> Dxt<'_> {
        Dxt::new(self.order, module, self.module_region(module))
    }

    /// File records of a Darshan 1 or 2 log; a log of Darshan 3 has none.
    pub fn darshan2(&self) -> Darshan2Records<'_> {
        let whole = Extent { start: 0, len: self.source.len() };
        let region = (!self.format.has_modules()).then(|| self.region(Cow::Borrowed("log"), whole));
        Darshan2Records::new(self.format, self.order, region)
    }

    /// What was done to each file through a layer, in logs of Darshan 2 and 3 alike: from the POSIX, MPI-IO
    /// or STDIO module, or from the records of Darshan 2 that [use](crate::Darshan2Record::uses) the layer.
    /// There are no such records of other layers.
    pub fn activities(&self, layer: Layer) -> Box<dyn Iterator<Item = Result<Activity>> + '_> {
        let start = self.job.start.seconds;
        match (self.format.has_modules(), layer) {
            (false, _) => Box::new(self.darshan2().filter_map(move |record| match record {
                Ok(record) => record.uses(layer).then(|| Ok(record.activity(layer, start))),
                Err(error) => Some(Err(error)),
            })),
            (_, Layer::Posix) => Box::new(self.posix().activities()),
            (_, Layer::MpiIo) => Box::new(self.mpiio().activities()),
            (_, Layer::Stdio) => Box::new(self.stdio().activities()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// The totals of every module, each read once. Damage to one does not hide the others.
    ///
    /// A log of Darshan 2 is shown as the modules POSIX, MPI-IO and STDIO (with version 0) of the files that
    /// used them, because its successor would have recorded it so.
    pub fn totals(&self) -> Vec<ModuleTotals> {
        if !self.format.has_modules() {
            return self.totals_2();
        }
        self.modules.iter().map(|info| self.module_totals(info)).collect()
    }

    /// The totals of one of the [`modules`](Log::modules); no other is decompressed.
    pub fn module_totals(&self, info: &ModuleInfo) -> ModuleTotals {
        let (contents, damage) = match info.id {
            ModuleId::POSIX => totals::counters(self.posix(), PosixRecord::mixes_streams),
            ModuleId::MPIIO => totals::counters(self.mpiio(), |_| false),
            ModuleId::STDIO => totals::counters(self.stdio(), |_| false),
            ModuleId::DXT_POSIX | ModuleId::DXT_MPIIO => totals::segments(self.dxt(info.id)),
            ModuleId::HEATMAP => totals::heatmaps(self.heatmaps()),
            _ => (Contents::Unread, None),
        };
        ModuleTotals::new(info.clone(), contents, damage)
    }

    fn totals_2(&self) -> Vec<ModuleTotals> {
        let layers = [
            (Layer::Posix, ModuleId::POSIX),
            (Layer::MpiIo, ModuleId::MPIIO),
            (Layer::Stdio, ModuleId::STDIO),
        ];
        let start = self.job.start.seconds;
        let mut sums = layers.map(|_| CounterTotals::default());
        let mut damage = totals::sum(self.darshan2(), |record| {
            for ((layer, _), sum) in layers.iter().zip(&mut sums) {
                if record.uses(*layer) {
                    sum.add(&record.activity(*layer, start), record.lacks_bytes());
                }
            }
        });
        let mut totals = Vec::new();
        for ((_, id), sum) in layers.into_iter().zip(sums) {
            // Damage belongs to the log as a whole; it is reported with the first layer.
            let damage = damage.take();
            if sum.records > 0 || damage.is_some() {
                let info = ModuleInfo {
                    id,
                    version: 0,
                    offset: 0,
                    compressed_len: self.source.len(),
                    partial: false,
                };
                totals.push(ModuleTotals::new(info, Contents::Counters(sum), damage));
            }
        }
        totals
    }

    fn module_region(&self, id: ModuleId) -> Option<(Region<'_>, u32)> {
        let info = self.module(id).filter(|info| info.compressed_len > 0)?;
        Some((self.region(info.name(), info.extent()), info.version))
    }

    fn region(&self, name: Cow<'static, str>, extent: Extent) -> Region<'_> {
        Region::new(&self.file, &self.source, self.compression, &self.limits, name, extent)
    }
}

/// The format a log says it has, if it is one that this crate reads.
fn recognise(file: &str, head: &[u8]) -> Result<Format> {
    let is_log = |format: &Format| format.major == 1 || order_of(file, head).is_ok();
    match Format::parse(&head[..head.len().min(8)]) {
        Some(format) if format.is_supported() => Ok(format),
        Some(format) if is_log(&format) => Err(Error::Unsupported {
            file: file.into(),
            what: "log format".into(),
            expected: Format::SUPPORTED.into(),
            found: format.to_string(),
        }),
        _ => Err(Error::NotALog {
            file: file.into(),
            expected: "a version such as \"3.41\" in the first 8 bytes, or gzip or bzip2 around one".into(),
            found: show_bytes(head),
        }),
    }
}

/// The byte order by the magic number that follows the version.
fn order_of(file: &str, head: &[u8]) -> Result<ByteOrder> {
    let magic: [u8; 8] = head.get(8..16).and_then(|m| m.try_into().ok()).unwrap_or_default();
    header::byte_order(magic).ok_or_else(|| Error::NotALog {
        file: file.into(),
        expected: "Darshan's magic number after the version".into(),
        found: show_bytes(&magic),
    })
}
