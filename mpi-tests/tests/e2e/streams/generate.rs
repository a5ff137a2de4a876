//! Draws legal scripts.

use super::model::{Model, legal};
use super::rows::{Arg, Group, ROWS, Row, Rule};
use super::script::{Op, Script, Way};
use seeded_random::Random;

/// What a script is mostly about: how often each group of calls is chosen.
const SUBJECTS: &[&[(Group, usize)]] = &[
    // One or two streams, for update.
    &[
        (Group::Opening, 3),
        (Group::Bytes, 20),
        (Group::Placing, 16),
        (Group::Buffering, 2),
        (Group::Names, 2),
    ],
    // Everything that streams can do.
    &[
        (Group::Opening, 8),
        (Group::Bytes, 20),
        (Group::Placing, 8),
        (Group::Buffering, 4),
        (Group::Descriptors, 3),
        (Group::Transfers, 3),
        (Group::Names, 3),
        (Group::Parts, 1),
    ],
    &[(Group::Opening, 4), (Group::Wide, 16), (Group::Placing, 8), (Group::Buffering, 2), (Group::Names, 3)],
    // Descriptors and what they mean.
    &[
        (Group::Descriptors, 16),
        (Group::Transfers, 16),
        (Group::Names, 4),
        (Group::Opening, 2),
        (Group::Bytes, 2),
    ],
    // Files of which names and descriptors change their meaning.
    &[
        (Group::Descriptors, 12),
        (Group::Transfers, 10),
        (Group::Names, 10),
        (Group::Opening, 3),
        (Group::Bytes, 3),
        (Group::Parts, 1),
    ],
    // Processes and threads.
    &[
        (Group::Parts, 8),
        (Group::Opening, 6),
        (Group::Bytes, 8),
        (Group::Placing, 3),
        (Group::Descriptors, 6),
        (Group::Transfers, 8),
        (Group::Names, 2),
    ],
    // Everything.
    &[
        (Group::Opening, 6),
        (Group::Bytes, 8),
        (Group::Wide, 3),
        (Group::Placing, 6),
        (Group::Buffering, 2),
        (Group::Descriptors, 6),
        (Group::Transfers, 6),
        (Group::Names, 4),
        (Group::Programs, 1),
        (Group::Parts, 1),
    ],
];

const NAMES: &[&str] = &[
    "f0",
    "f0",
    "f0",
    "f1",
    "f1",
    "f2",
    "f3",
    "d/f0",
    "d/f1",
    "./f0",
    "d/../f1",
    "link/f0",
    "=f0",
    "=f2",
    "=d/f0",
    "+f0",
    "+f1",
    "p0",
    "p0",
    "/dev/stdout",
    "/dev/null",
    "/dev/full",
];

fn one<'a, T: ?Sized>(random: &mut Random, of: &[&'a T]) -> &'a T {
    of[random.below(of.len())]
}

/// Around the sizes of buffers, and anything else.
fn amount(random: &mut Random, most: usize) -> usize {
    const EDGES: &[usize] =
        &[0, 1, 2, 100, 1000, 1023, 1024, 4095, 4096, 4097, 8191, 8192, 8193, 12288, 40000];
    let drawn = match random.below(8) {
        0 | 1 => EDGES[random.below(EDGES.len())],
        2 | 3 => random.below(200),
        4 | 5 => random.below(6000),
        6 => 4096 * random.below(4),
        _ => random.below(70_000),
    };
    drawn.min(most)
}

fn place(random: &mut Random, letter: char, of: &[usize]) -> Option<String> {
    let at = *of.get(random.below(of.len()))?;
    Some(match (letter, at) {
        ('s', super::script::IN) => "in".into(),
        ('s', super::script::OUT) => "out".into(),
        ('s', super::script::ERR) => "err".into(),
        _ => format!("{letter}{at}"),
    })
}

fn word(random: &mut Random, model: &Model, arg: Arg, before: &[String], programs: usize) -> Option<String> {
    Some(match arg {
        Arg::Stream => return place(random, 's', &model.streams(true)),
        Arg::NewStream => return place(random, 's', &model.streams(false)),
        Arg::Descriptor => return place(random, 'd', &model.descriptors(true)),
        Arg::NewDescriptor => return place(random, 'd', &model.descriptors(false)),
        Arg::Directory => return place(random, 'g', &model.directories(true)),
        Arg::NewDirectory => return place(random, 'g', &model.directories(false)),
        Arg::Name if random.below(16) == 0 => {
            let descriptor = place(random, 'd', &model.descriptors(true))?;
            format!("{}{descriptor}", one(random, &["%", "&"]))
        }
        Arg::Name => one(random, NAMES).to_owned(),
        Arg::NameOfProgram => format!("w{programs}"),
        // `fread` and `fwrite` take as many elements of the size that was drawn.
        Arg::Bytes => {
            let size = before.get(1).and_then(|size| size.parse().ok()).unwrap_or(1);
            (amount(random, 70_000) / usize::max(size, 1)).to_string()
        }
        // One by one, without a buffer, each may be a system call.
        Arg::Characters | Arg::WideCharacters => {
            let most = if random.below(6) == 0 { 5000 } else { 300 };
            amount(random, most).max(1).to_string()
        }
        Arg::FewCharacters => amount(random, 2000).max(1).to_string(),
        Arg::Element => one(random, &["1", "1", "1", "3", "7", "512", "4096"]).to_owned(),
        // Of `setvbuf`, `fgets`, `fmemopen`.
        Arg::Buffer => amount(random, 70_000).max(1).to_string(),
        Arg::Place => amount(random, 40_000).to_string(),
        Arg::Offset => {
            let amount = amount(random, 40_000);
            match before.last().map(String::as_str) {
                Some("set") => amount.to_string(),
                _ if random.below(3) == 0 => "0".into(),
                Some("end") if random.below(4) == 0 => amount.to_string(),
                Some("end") => format!("-{amount}"),
                _ if random.below(2) == 0 => format!("-{amount}"),
                _ => amount.to_string(),
            }
        }
        Arg::Word(words) => one(random, words).to_owned(),
    })
}

fn row(random: &mut Random, subject: &[(Group, usize)]) -> &'static Row {
    let mut drawn = random.below(subject.iter().map(|(_, weight)| weight).sum());
    let group = subject.iter().find(|(_, weight)| {
        let is_it = drawn < *weight;
        drawn = drawn.wrapping_sub(*weight);
        is_it
    });
    let group = group.expect("it is below the sum").0;
    let rows = || ROWS.iter().filter(|row| row.group == group);
    let mut drawn = random.below(rows().map(|row| row.weight).sum());
    rows()
        .find(|row| {
            let is_it = drawn < row.weight;
            drawn = drawn.wrapping_sub(row.weight);
            is_it
        })
        .expect("it is below the sum")
}

fn op(random: &mut Random, row: &'static Row, model: &Model, programs: usize) -> Option<Op> {
    let mut words = Vec::new();
    for &arg in row.args {
        words.push(word(random, model, arg, &words, programs)?);
    }
    Some(Op { row, words })
}

/// The script of this seed.
pub fn script(seed: u64) -> Script {
    let random = &mut Random::new(seed);
    let subject = SUBJECTS[random.below(SUBJECTS.len())];
    let most = [10, 30, 60][random.below(3)];
    let length = 4 + random.below(most);
    let mut model = Model::new();
    let mut ops: Vec<Op> = Vec::new();
    // Something to read.
    let made = ["f0", "f1", "d/f0", "f2", "d/f1"].into_iter().take(2 + random.below(4));
    let mut first: Vec<String> = made.map(|name| format!("make {name} {}", amount(random, 20_000))).collect();
    if random.below(3) == 0 {
        first.push(format!("make m0 {}", amount(random, 40_000)));
    }
    if subject[0].0 == Group::Wide {
        // In wide characters, as bytes in between would be none.
        first.extend(["fopen s0 f0 w", "fputws s0 3000", "fclose s0"].map(str::to_owned));
    }
    for line in first {
        let op: Op = line.parse().expect("a call");
        assert!(model.step(&op), "{line}");
        ops.push(op);
    }
    while ops.len() < length {
        // Rarely is nothing of all that is drawn legal.
        let drawn = (0..200).find_map(|_| {
            let row = row(random, subject);
            let drawn = op(random, row, &model, ops.len())?;
            if drawn.row.rule == Rule::End || model.is_in_vain(&drawn) && random.below(20) != 0 {
                return None;
            }
            model.step(&drawn).then_some(drawn)
        });
        ops.extend(drawn);
    }
    let ends = ROWS.iter().filter(|row| row.rule == Rule::End).collect::<Vec<_>>();
    let end = if random.below(30) == 0 { ends[1] } else { ends[0] };
    // Programs find plain names only, and must not wait for them.
    let end = op(random, end, &model, 0)
        .filter(|end| !end.words.iter().any(|word| word.starts_with(['%', '&', 'p', '/', '+', '='])));
    ops.push(end.unwrap_or_else(|| "end exit".parse().expect("a call")));
    let way = if random.below(12) == 0 { Way::Fresh } else { Way::Fork };
    let ops = legal(ops);
    assert!(ops.last().is_some_and(|op| op.row.rule == Rule::End), "seed {seed}: no end");
    Script { way, ops }
}
