//! The judge is judged first: what the kernel is said to have counted is what strace says and what scripts
//! whose bytes are known have moved; a count that is wrong on purpose is found; the generator draws what it
//! should, and what is made small is what matters.

use super::account::{Account, Layer, Sum, Way};
use super::batch::{Checks, Second, play, play_one};
use super::compare::{Aspect, Differences, behaviours, runs, with_kernel};
use super::generate;
use super::model::legal;
use super::play::{Place, Played, Settings, Stage};
use super::recorded::Recorded;
use super::rows::{ROWS, Rule};
use super::script::{Op, Script};
use super::shrink::smallest;
use crate::harness::skip;
use crate::mpis::in_path;
use std::collections::{BTreeMap, BTreeSet};

const IN_MEMORY: Settings = Settings { player: 0, on_disk: false };

fn script(text: &str) -> Script {
    text.parse().unwrap()
}

fn account(text: &str) -> Account {
    let script = script(&format!("script 0 fork\n{text}"));
    Stage::new().alone(&[script], IN_MEMORY).1
}

/// Calls that moved something, and bytes.
fn moved(account: &Account, name: &str, layer: Layer, way: Way) -> (u64, u64) {
    let sum = account.sums.get(&(0, name.to_owned(), layer, way)).copied().unwrap_or_default();
    (sum.moved, sum.bytes)
}

#[test]
fn calls_on_descriptors_whose_bytes_are_known() {
    let account = account(
        "open d3 f0 rdwr,creat\nwrite d3 1000\npwrite d3 500 4000\nread d3 10000\nread d3 10\npread d3 100 0\n\
         writev d3 90\nopen d4 f1 rdwr,creat\nlseek d3 set 0\nsendfile d4 d3 600\ncopy_file_range d4 d3 400\n\
         pipe d5 d6\nwrite d6 70\nsplice d4 d5 70\nwrite d1 30\nrename f1 f2\nwrite d4 20\nend exit",
    );
    let of = |name: &str, way| moved(&account, name, Layer::Posix, way);
    assert_eq!(of("s0/f0", Way::Write), (3, 1590));
    // To the end, which is after the last byte written; then nothing.
    assert_eq!(of("s0/f0", Way::Read), (4, 3500 + 100 + 600 + 400));
    assert_eq!(account.sums[&(0, "s0/f0".into(), Layer::Posix, Way::Read)].calls, 5);
    assert_eq!((of("s0/f1", Way::Write), of("s0/f2", Way::Write)), ((3, 1070), (1, 20)));
    assert_eq!(of("s0/stdout", Way::Write), (1, 30));
    assert!(account.same.contains(&(0, "s0/f1".into(), "s0/f2".into())), "{:?}", account.same);
}

#[test]
fn streams_whose_bytes_are_known() {
    let account = account(
        "fopen s0 f0 w\nsetvbuf s0 full own 1000\nfwrite s0 1 2500\nfclose s0\nfopen s1 f0 r\n\
         setvbuf s1 none null 1\ngetc s1 30\nfclose s1\nputchar 70\nfork _exit\nputchar 30\nend_fork\nend exit",
    );
    let of = |name: &str, way| moved(&account, name, Layer::Stdio, way).1;
    assert_eq!(
        (of("s0/f0", Way::Write), of("s0/f0", Way::Read), of("s0/stdout", Way::Write)),
        (2500, 30, 70)
    );
    assert_eq!(moved(&account, "s0/f0", Layer::Stdio, Way::Read).0, 30);
}

/// What strace says, by name.
fn told_by_strace(text: &str, place: &Place) -> BTreeMap<(String, Way), Sum> {
    let mut sums: BTreeMap<(String, Way), Sum> = BTreeMap::new();
    let mut unfinished: BTreeMap<&str, String> = BTreeMap::new();
    for line in text.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let mut rest = rest.trim().to_owned();
        if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
            unfinished.insert(process, begin.trim_end().to_owned());
            continue;
        }
        if rest.starts_with("<... ") {
            let end = rest.split_once("resumed>").map_or("", |(_, end)| end).to_owned();
            rest = unfinished.remove(process).unwrap_or_default() + &end;
        }
        // read(3</path>, ""..., 4096) = 100
        let Some((call, arguments)) = rest.split_once('(') else { continue };
        let Some(result) = rest.rsplit_once(" = ").map(|(_, result)| result) else { continue };
        let bytes = result.split(' ').next().and_then(|number| number.parse::<i64>().ok());
        let Some((Some(name), bytes)) = arguments
            .split_once('<')
            .and_then(|(_, rest)| rest.split_once('>'))
            .map(|(path, _)| place.name(path))
            .zip(bytes)
        else {
            continue;
        };
        let way = if call.contains("read") { Way::Read } else { Way::Write };
        sums.entry((name, way)).or_default().add(bytes.max(0) as u64);
    }
    sums
}

#[test]
fn the_account_is_that_of_strace() {
    if !in_path("strace") {
        return skip("no strace");
    }
    // It has no names of calls that move data between two files, and does not tell a FIFO from a file.
    let is_told = |op: &Op| op.row.rule != Rule::TwoFiles && !op.words.iter().any(|word| word == "p0");
    let has_programs =
        |script: &Script| script.to_string().contains("popen") || script.to_string().contains("end exec");
    let scripts: Vec<Script> = (500_000..500_160)
        .map(generate::script)
        .map(|script| Script { ops: legal(script.ops.into_iter().filter(is_told)), ..script })
        .filter(|script| !has_programs(script) && !script.ops.iter().any(|op| op.row.rule == Rule::Program))
        .filter(|script| !script.ops.iter().any(|op| op.row.rule == Rule::ProgramTo))
        .collect();
    assert!(scripts.len() > 100);
    let stage = Stage::new();
    for settings in [IN_MEMORY, Settings { player: 1, on_disk: true }] {
        let (_, account) = stage.alone(&scripts, settings);
        let strace = told_by_strace(&stage.by_strace(&scripts, settings), &stage.place_alone(settings));
        let mut ours: BTreeMap<(String, Way), Sum> = BTreeMap::new();
        for ((_, name, _, way), &sum) in &account.sums {
            let entry = ours.entry((name.clone(), *way)).or_default();
            *entry = *entry + sum;
        }
        assert!(ours.len() > 200, "hardly anything was done");
        let names: BTreeSet<_> = ours.keys().chain(strace.keys()).collect();
        let differ = names.into_iter().filter(|&name| ours.get(name) != strace.get(name));
        let differ: Vec<String> = differ
            .map(|name| format!("{name:?}: {:?}, strace {:?}", ours.get(name), strace.get(name)))
            .collect();
        assert!(differ.is_empty(), "\n{}", differ.join("\n"));
    }
}

/// A trace that says what the kernel counted.
fn recorded(account: &Account) -> Recorded {
    Recorded { sums: account.sums.clone(), ..Recorded::default() }
}

fn aspects(differences: &Differences) -> Vec<(usize, Aspect)> {
    differences.iter().flat_map(|(&script, all)| all.iter().map(move |one| (script, one.aspect))).collect()
}

#[test]
fn every_wrong_number_in_a_trace_is_found() {
    let sum = |calls, bytes| Sum { calls, moved: calls, bytes };
    let key = |name: &str, layer, way| (3, name.to_owned(), layer, way);
    let mut kernel = Account::default();
    kernel.sums.insert(key("s3/f0", Layer::Posix, Way::Write), sum(2, 100));
    kernel.sums.insert(key("s3/f0", Layer::Stdio, Way::Write), sum(3, 50));
    kernel.sums.insert(key("s3/f1", Layer::Posix, Way::Read), sum(1, 7));
    kernel.sums.insert(key("s3/f2", Layer::Either, Way::Read), sum(1, 9));
    kernel.same.insert((3, "s3/f1".into(), "s3/link".into()));
    let truth = || {
        let mut truth = recorded(&kernel);
        let either = truth.sums.remove(&key("s3/f2", Layer::Either, Way::Read)).unwrap();
        truth.sums.insert(key("s3/f2", Layer::Stdio, Way::Read), either);
        truth
    };
    assert_eq!(aspects(&with_kernel(&kernel, &truth())), []);
    let changed = |change: &dyn Fn(&mut Recorded)| {
        let mut recorded = truth();
        change(&mut recorded);
        aspects(&with_kernel(&kernel, &recorded))
    };
    let posix = key("s3/f0", Layer::Posix, Way::Write);
    let found = |aspect| vec![(3, aspect)];
    assert_eq!(changed(&|told| told.sums.get_mut(&posix).unwrap().bytes += 1), found(Aspect::Bytes));
    assert_eq!(changed(&|told| told.sums.get_mut(&posix).unwrap().calls += 1), found(Aspect::Calls));
    assert_eq!(changed(&|told| told.sums.retain(|key, _| *key != posix)), found(Aspect::Bytes));
    // In the other direction, for another file, for another script.
    for (wrong, count) in [
        (key("s3/f0", Layer::Posix, Way::Read), 2),
        (key("s3/f9", Layer::Posix, Way::Write), 2),
        ((4, "s4/f0".into(), Layer::Posix, Way::Write), 2),
    ] {
        let moved = changed(&|told| {
            let sum = told.sums.remove(&posix).unwrap();
            told.sums.insert(wrong.clone(), sum);
        });
        assert_eq!(moved.len(), count, "{wrong:?}: {moved:?}");
    }
    // By the other layer.
    let layers = changed(&|told| {
        told.sums.get_mut(&posix).unwrap().bytes -= 10;
        told.sums.get_mut(&key("s3/f0", Layer::Stdio, Way::Write)).unwrap().bytes += 10;
    });
    assert_eq!(layers, [(3, Aspect::Bytes), (3, Aspect::Bytes)]);
    // Two names of one file are one.
    let renamed = changed(&|told| {
        let sum = told.sums.remove(&key("s3/f1", Layer::Posix, Way::Read)).unwrap();
        told.sums.insert(key("s3/link", Layer::Posix, Way::Read), sum);
    });
    assert_eq!(renamed, []);
    // What a stream asked for and did not get need not be recorded; what a program asked for must be.
    let mut more = recorded(&kernel);
    more.sums.entry(key("s3/f0", Layer::Stdio, Way::Read)).or_default().add(0);
    more.sums.entry(key("s3/f0", Layer::Posix, Way::Read)).or_default().add(0);
    let calls = with_kernel(&Account { sums: more.sums, same: kernel.same.clone() }, &truth());
    assert_eq!(aspects(&calls), found(Aspect::Calls));
    let mut other = Account { sums: kernel.sums.clone(), ..Account::default() };
    other.sums.entry(posix.clone()).or_default().add(5);
    assert_eq!(aspects(&behaviours(&kernel, &other)), found(Aspect::Behaviour));
}

#[test]
fn results_and_files_that_differ_are_found() {
    let played = |log: &str, file: &str| Played {
        logs: vec!["a: 1\n".into(), log.into()],
        files: vec![BTreeMap::new(), BTreeMap::from([("f0".to_owned(), file.as_bytes().to_vec())])],
        code: Some(0),
        said: String::new(),
    };
    let alone = played("read: 5\nended 0\n", "text");
    let found = |other: &Played| aspects(&runs(&alone, other));
    assert_eq!(found(&played("read: 5\nended 0\n", "text")), []);
    assert_eq!(found(&played("read: 6\nended 0\n", "text")), [(1, Aspect::Results)]);
    assert_eq!(found(&played("read: 5\n", "text")), [(1, Aspect::Results)]);
    assert_eq!(found(&played("read: 5\nended 0\n", "tex")), [(1, Aspect::Contents)]);
}

/// A library that does not record everything is found out, by a real run.
#[test]
fn a_file_that_is_not_recorded_is_found() {
    let mut stage = Stage::new();
    let script = script(
        "script 0 fork\nopen d3 f0 rdwr,creat\nwrite d3 100\nopen d4 f1 rdwr,creat\nwrite d4 50\nend exit",
    );
    let checks = Checks { second: Second::TracedAndCounted, calls: true };
    let found = || play_one(&stage, &script, IN_MEMORY, checks);
    assert!(found().is_empty(), "{:?}", found());
    stage.variables = vec![("TMIO_EXCLUDE_FILES", "*/f1")];
    let found = play_one(&stage, &script, IN_MEMORY, checks);
    let texts: Vec<&str> = found.iter().map(|found| &*found.text).collect();
    assert_eq!(texts, ["s0/f1: written 50 bytes in 1 calls, recorded 0 in 0"]);
}

#[test]
fn scripts_of_a_batch_do_not_mix() {
    let mut stage = Stage::new();
    let text =
        |name: &str| script(&format!("script 0 fork\nopen d3 {name} rdwr,creat\nwrite d3 100\nend exit"));
    let scripts = [text("f0"), text("f1"), text("f0"), text("+f0")];
    stage.variables = vec![("TMIO_EXCLUDE_FILES", "*/f1")];
    let shown = play(&stage, &scripts, IN_MEMORY, Checks { second: Second::Traced, calls: true });
    assert_eq!(aspects(&shown.differences), [(1, Aspect::Bytes)], "{shown:?}");
}

#[test]
fn what_is_drawn_is_legal_and_the_same_for_a_seed() {
    let mut drawn: BTreeSet<&str> = BTreeSet::new();
    for seed in 0..1500 {
        let script = generate::script(seed);
        assert_eq!(script.to_string(), generate::script(seed).to_string());
        let kept: Vec<String> = legal(script.ops.clone()).iter().map(ToString::to_string).collect();
        let all: Vec<String> = script.ops.iter().map(ToString::to_string).collect();
        assert_eq!(kept, all, "seed {seed}");
        assert_eq!(
            script.numbered(0).parse::<Script>().unwrap().to_string(),
            script.to_string(),
            "seed {seed}"
        );
        drawn.extend(script.ops.iter().map(|op| op.row.name));
    }
    let all: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
    assert_eq!(drawn, all, "some calls are never drawn");
}

#[test]
fn what_is_not_legal_is_not_kept() {
    for (text, kept) in [
        // Writing after reading, and the other way round.
        ("fopen s0 f0 r+\nfread s0 1 1\nfwrite s0 1 1\nend exit", "fopen s0 f0 r+|fread s0 1 1|end exit"),
        ("fopen s0 f0 w+\nfwrite s0 1 1\nfgetc s0 1\nend exit", "fopen s0 f0 w+|fwrite s0 1 1|end exit"),
        (
            "fopen s0 f0 r+\nfread s0 1 1\nfflush s0\nfwrite s0 1 1\nend exit",
            "fopen s0 f0 r+|fread s0 1 1|fflush s0|end exit",
        ),
        // Against the mode, after the end, of the other width.
        ("fopen s0 f0 r\nfwrite s0 1 1\nend exit", "fopen s0 f0 r|end exit"),
        ("fopen s0 f0 r\nfclose s0\nfread s0 1 1\nend exit", "fopen s0 f0 r|fclose s0|end exit"),
        ("fopen s0 f0 w\nfputwc s0 1\nfputc s0 1\nend exit", "fopen s0 f0 w|fputwc s0 1|end exit"),
        ("open d3 f0 rdwr\nclose d3\nread d3 1\nend exit", "open d3 f0 rdwr|close d3|end exit"),
        // Twice pushed back; nothing read before.
        (
            "fopen s0 f0 r\nungetc s0 65\ngetc s0 1\nungetc s0 65\nungetc s0 65\nend exit",
            "fopen s0 f0 r|getc s0 1|ungetc s0 65|end exit",
        ),
        // By another handle, while the stream holds something.
        (
            "fopen s0 f0 w+\ndup_of_stream d3 s0\nputc s0 1\nwrite d3 1\nfflush s0\nwrite d3 1\nputc s0 1\nend exit",
            "fopen s0 f0 w+|dup_of_stream d3 s0|putc s0 1|fflush s0|write d3 1|end exit",
        ),
        // It would block.
        ("mkfifo p0\nfopen s0 p0 r\nend exit", "mkfifo p0|end exit"),
        // Programs are waited for, parts end.
        ("popen s0 r cat\nend exit", "popen s0 r cat|pclose s0 r|end exit"),
        ("fork exit\nprintf 1\nend exit", "fork exit|printf 1|end_fork|end exit"),
        ("end_fork\nbranch\nend exit", "end exit"),
        ("end exit\nprintf 1", "end exit"),
    ] {
        let ops: Vec<String> = legal(script(text).ops).iter().map(ToString::to_string).collect();
        assert_eq!(ops.join("|"), kept);
    }
}

/// What fails is a write to a stream in memory of more than 1000 bytes: nothing else is left.
#[test]
fn what_is_made_small_is_what_matters() {
    let bytes = |op: &Op| op.words[1..].iter().map(|word| word.parse::<u64>().unwrap()).product::<u64>();
    let fails = |script: &Script| {
        let begun = script.ops.iter().enumerate().filter(|(_, op)| op.row.name == "open_memstream");
        begun.into_iter().any(|(at, memory)| {
            let mut after = script.ops[at + 1..].iter().take_while(|op| op.row.rule != Rule::Fcloseall);
            after.any(|op| op.row.name == "fwrite" && op.words[0] == memory.words[0] && bytes(op) > 1000)
        })
    };
    let failing = (0..).map(generate::script).find(|script| fails(script) && script.ops.len() > 20).unwrap();
    let small = smallest(&failing, |scripts| scripts.iter().position(fails));
    let names: Vec<&str> = small.ops.iter().map(|op| op.row.name).collect();
    assert_eq!(names, ["open_memstream", "fwrite", "end"], "{small}");
    assert!(fails(&small));
    assert!(bytes(&small.ops[1]) <= 5000, "{small}");
}
