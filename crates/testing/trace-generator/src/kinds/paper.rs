//! The settings of the [experiment](crate::experiment), as kinds.

use super::{Kind, Made, Recording};
use crate::application::{Application, Noise};
use crate::generated::Generated;
use crate::irregular::Irregular;
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("paper_regular", "t_cpu 2 to 88 s, without and with other traffic", regular),
    Kind::new("paper_desync", "ranks late by 5 to 22 s on average", desync),
    Kind::new("paper_jitter", "computing times vary by 25 to 100 %", jitter),
    Kind::new("paper_wild", "computing times vary by 200 %, cut at 0", wild),
    Kind::new("paper_long_first", "seven iterations, the first phase three times as long", long_first),
    Kind::new("paper_poisson", "bursts at random", poisson),
    Kind::new("paper_one_burst", "one burst, of any shape", one_burst),
    Kind::new("paper_two_bursts", "two bursts, of any shape", two_bursts),
    Kind::new("paper_other", "white, constant or a random walk", other),
    Kind::new("paper_interleaved", "two applications in one: both periods are wanted", interleaved)
        .within(0.04),
    Kind::new("paper_changing", "one period, then another: both are wanted", changing),
];

fn seed(random: &mut Random) -> u64 {
    (random.unit() * (1u64 << 53) as f64) as u64
}

fn made(generated: Generated) -> Made {
    let Generated { ranks, duration, writes, truth } = generated;
    Made { recording: Recording::Requests { ranks, duration, writes, reads: Vec::new() }, truth }
}

/// Distances that vary by themselves.
fn loose(generated: Generated) -> Made {
    let Made { recording, truth } = made(generated);
    Made { recording, truth: truth.loose() }
}

fn regular(random: &mut Random) -> Made {
    let compute = random.pick(&[2.0, 5.0, 11.0, 22.0, 44.0, 88.0]);
    let noise = random.pick(&[Noise::None, Noise::Low, Noise::High]);
    made(Application { compute, noise, ..Application::default() }.generate(seed(random)))
}

fn desync(random: &mut Random) -> Made {
    let desync = random.pick(&[5.0, 11.0, 22.0]);
    loose(Application { desync, ..Application::default() }.generate(seed(random)))
}

fn jitter(random: &mut Random) -> Made {
    let jitter = random.pick(&[0.25, 0.5, 1.0]);
    loose(Application { jitter, ..Application::default() }.generate(seed(random)))
}

fn wild(random: &mut Random) -> Made {
    loose(Application { jitter: 2.0, ..Application::default() }.generate(seed(random)))
}

fn long_first(random: &mut Random) -> Made {
    let job = Application { iterations: 7, first_phase: 3.0, ..Application::default() };
    let mut made = made(job.generate(seed(random)));
    // With the first phase or without it.
    let starts = &made.truth.starts;
    made.truth.also = vec![(starts[6] - starts[1]) / 5.0];
    made
}

fn poisson(random: &mut Random) -> Made {
    made(Irregular::Poisson.generate(seed(random)))
}

fn one_burst(random: &mut Random) -> Made {
    made(Irregular::OneBurst.generate(seed(random)))
}

fn two_bursts(random: &mut Random) -> Made {
    made(Irregular::TwoBursts.generate(seed(random)))
}

fn other(random: &mut Random) -> Made {
    let kind = random.pick(&[Irregular::White, Irregular::Constant, Irregular::RandomWalk]);
    made(kind.generate(seed(random)))
}

fn interleaved(random: &mut Random) -> Made {
    made(Irregular::Interleaved.generate(seed(random)))
}

fn changing(random: &mut Random) -> Made {
    made(Irregular::Changing.generate(seed(random)))
}
