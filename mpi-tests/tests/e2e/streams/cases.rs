//! Small scripts, each for something that a tracer can get wrong, most of which ours once did.

use super::batch::{Checks, Second, play_one};
use super::model::legal;
use super::play::{Settings, Stage};
use super::script::{Script, Way};

/// A legal script [is the same](is_the_same) with the library.
fn is_exact(script: &str) {
    let ops = script.parse::<Script>().unwrap().ops;
    let calls: Vec<String> = ops.iter().map(ToString::to_string).collect();
    let kept: Vec<String> = legal(ops).iter().map(ToString::to_string).collect();
    assert_eq!(calls, kept, "not legal as it stands");
    is_the_same(script);
}

/// Played by the program that is started and by a child of it, on the disk and in memory: the results and
/// files are the same as without the library, and what is recorded is what the kernel counted.
fn is_the_same(script: &str) {
    let script: Script = script.parse().unwrap();
    let stage = Stage::new();
    let mut wrong = Vec::new();
    for (way, on_disk) in [(Way::Here, true), (Way::Fork, false), (Way::Fresh, false)] {
        let script = Script { way, ..script.clone() };
        let settings = Settings { player: 0, on_disk };
        let second = if way == Way::Fork { Second::TracedAndCounted } else { Second::Traced };
        let found = play_one(&stage, &script, settings, Checks { second, calls: true });
        let place = if on_disk { "on disk" } else { "in memory" };
        wrong.extend(found.iter().map(|found| format!("{way:?}, {place}: {}", found.text)));
    }
    assert!(wrong.is_empty(), "\n{}\n{script}", wrong.join("\n"));
}

/// Lines that are repeated.
fn times(count: usize, lines: &str) -> String {
    lines.repeat(count)
}

// Streams without a file. Their field for a descriptor may hold anything.

#[test]
fn open_memstream_is_no_file() {
    is_exact(
        "open d3 f0 rdwr,creat\nwrite d3 100\nopen_memstream s0\nfwrite s0 1 50000\nfflush s0\nfclose s0\nend exit",
    );
}

#[test]
fn open_wmemstream_is_no_file() {
    is_exact("open d3 f0 rdwr,creat\nwrite d3 100\nopen_wmemstream s0\nfputws s0 5000\nfclose s0\nend exit");
}

#[test]
fn fmemopen_is_no_file() {
    is_exact(
        "open d3 f0 rdwr,creat\nwrite d3 100\nfmemopen s0 9000 w+\nfwrite s0 1 5000\nrewind s0\n\
         fread s0 1 3000\nfclose s0\nend exit",
    );
}

#[test]
fn fopencookie_does_what_its_functions_do() {
    is_exact(
        "open d3 f0 rdwr,creat\nwrite d3 100\nfopencookie s0 w -\nfwrite s0 1 5000\nfclose s0\nend exit",
    );
    is_exact("make f0 9000\nopen d3 f0 rdwr\nfopencookie s0 r d3\nfread s0 1 5000\nfclose s0\nend exit");
}

// Streams for update: a seek may read a block, and may keep what it has read.

#[test]
fn seeks_between_writes_on_a_stream_for_update() {
    let round = "fseek s0 set 100\nfwrite s0 1 40\nfseek s0 set 500\nfwrite s0 1 10\n";
    is_exact(&format!("fopen s0 f0 w+\nfwrite s0 1 1000\n{}fclose s0\nend exit", times(20, round)));
}

#[test]
fn seeks_between_reads_and_writes_on_a_stream_for_update() {
    let round = "fseek s0 set 640\nfwrite s0 1 1000\nfseek s0 set 0\nfread s0 1 64\nfseek s0 set 940\n\
                 fwrite s0 1 40\n";
    is_exact(&format!("fopen s0 f0 w+\n{}fclose s0\nend exit", times(20, round)));
}

#[test]
fn records_that_are_read_and_written_back() {
    let round = "fseek s0 set 4096\nfread s0 1 100\nfseek s0 cur -100\nfwrite s0 1 100\nfflush s0\n";
    is_exact(&format!("make f0 20000\nfopen s0 f0 r+\n{}fclose s0\nend exit", times(10, round)));
}

#[test]
fn appending_and_reading_back() {
    let round = "fprintf s0 20\nrewind s0\nfread s0 1 50\nfseek s0 end 0\n";
    is_exact(&format!("fopen s0 f0 a+\n{}fclose s0\nend exit", times(10, round)));
}

#[test]
fn seeks_and_flushes() {
    let round = "fseek s0 set 7001\nfflush s0\nfseek s0 set 1234\nfflush s0\n";
    is_exact(&format!("make f0 20000\nfopen s0 f0 r\n{}fclose s0\nend exit", times(10, round)));
}

#[test]
fn a_seek_to_the_end_reads_a_block() {
    is_exact("fseek in end -100\nfread in 1 50\nfseek in set 3\ngetc in 1\nend exit");
    is_exact("fseeko in end 1\nend exit");
}

// Calls that go to the system more than once.

#[test]
fn fscanf_that_fills_its_buffer_many_times() {
    is_exact("make f0 90000\nfopen s0 f0 r\nfscanf s0 4\nfclose s0\nend exit");
}

#[test]
fn fscanf_without_a_buffer() {
    is_exact(
        "make f0 9000\nfopen s0 f0 r\nsetvbuf s0 none null 1\nfscanf s0 0\nfscanf s0 1\nfscanf s0 4\nend exit",
    );
}

#[test]
fn every_reader_without_a_buffer() {
    is_exact(
        "make f0 20000\nfopen s0 f0 r\nsetvbuf s0 none null 1\nfgets s0 100\ngetline s0\ngetdelim s0 107\n\
         getc s0 20\nungetc s0 65\ngetc_unlocked s0 20\nfread s0 7 100\nfclose s0\nend exit",
    );
}

#[test]
fn more_than_a_buffer_in_one_call() {
    is_exact(
        "make f0 70000\nfopen s0 f0 r+\nfread s0 1 50000\nrewind s0\nfwrite s0 1 60000\nfclose s0\nend exit",
    );
}

#[test]
fn lines_written_to_a_stream_that_flushes_lines() {
    is_exact(
        "fopen s0 f0 w\nsetvbuf s0 line null 1\nfputs s0 100\nfwrite s0 1 20000\nfprintf s0 50\nend exit",
    );
}

// Buffers that change while the stream is used, characters pushed back, what is given up.

#[test]
fn buffers_that_change_at_any_time() {
    is_exact(
        "make f0 30000\nfopen s0 f0 r\nfread s0 1 10\nsetvbuf s0 full own 777\nfread s0 1 2000\n\
         setvbuf s0 none null 1\ngetc s0 3\nsetvbuf s0 full own 60000\nfgets s0 1000\nfclose s0\nend exit",
    );
}

#[test]
fn characters_that_are_pushed_back() {
    // What was written before the last one may confuse glibc, and is not drawn; here it does not.
    is_the_same(
        "make f0 20000\nfopen s0 f0 r+\ngetc s0 1\nungetc s0 65\nfread s0 1 5000\nungetc s0 10\nfseek s0 cur 0\n\
         fwrite s0 1 10\nfflush s0\nfread s0 1 9000\nungetc s0 255\nfclose s0\nend exit",
    );
    is_exact("make f0 20000\nfopen s0 f0 r+\nfread s0 1 9000\nungetc s0 255\nfclose s0\nend exit");
}

#[test]
fn what_is_purged_is_not_written() {
    is_exact("fopen s0 f0 w\nfwrite s0 1 1000\nfpurge s0\nfwrite s0 1 500\nfclose s0\nend exit");
}

// Wide characters.

#[test]
fn wide_characters_that_are_flushed_while_they_are_read() {
    is_exact("fgetwc in 1\nfflush in\nfgetwc in 300\nfseek in end 0\nfgetws in 5\nend exit");
    is_exact("fseek in cur 0\nfgetwc in 1\nfflush in\nend exit");
}

/// The library once changed what the program got.
#[test]
fn wide_characters_written_and_positioned() {
    is_exact("fwprintf out 0\nrewind out\nfwprintf out 0\nfseek out cur 0\nftell out\nend exit");
}

#[test]
fn wide_characters_for_update() {
    let round = "fputws s0 300\nrewind s0\nfgetws s0 100\nfwscanf s0 0\nfseek s0 end 0\n";
    is_exact(&format!("fopen s0 f0 w+\n{}fclose s0\nend exit", times(5, round)));
}

// Descriptors that the C library opens, closes or replaces by itself.

#[test]
fn a_daemon_writes_to_nowhere() {
    is_exact(
        "write d1 5000\nprintf 100\nfflush out\ndaemon\nwrite d1 6000\nprintf 100\nend_daemon\nend exit",
    );
}

#[test]
fn a_terminal_instead_of_a_file() {
    is_exact("write d1 5000\nlogin_tty 50\nend exit");
}

#[test]
fn the_number_of_a_program_is_used_again() {
    is_exact(
        "popen s0 r cat\nfread s0 1 10\npclose s0 r\ntmpfile s1\nfwrite s1 1 50000\nfclose s1\nend exit",
    );
    is_exact(
        "make f0 10\nopen d3 f0 rdwr\npopen s0 r cat\nfread s0 1 10\npclose s0 r\npass d4 d3 raw\nwrite d4 5000\n\
         end exit",
    );
}

#[test]
fn the_number_of_a_directory_is_used_again() {
    is_exact(
        "open d3 . rdonly,directory\nfdopendir g0 d3\nclosedir g0\nopenat2 d4 f0 rdwr,creat\nwrite d4 5000\nend exit",
    );
}

#[test]
fn a_number_that_was_closed_past_the_c_library() {
    is_exact(
        "open d3 f0 rdwr,creat\nwrite d3 10\nraw_close d3\nsocketpair d4 d5\nwrite d4 100\nread d5 100\n\
         raw_close_range d4\nopen d6 f1 rdwr,creat\nwrite d6 1000\nend exit",
    );
}

#[test]
fn a_descriptor_that_came_by_itself() {
    is_exact(
        "open d3 f0 rdwr,creat\npass d4 d3 close\nwrite d4 100\npidfd_getfd d5 d3\nwrite d5 100\nclose d3\n\
         pass d6 d4 raw\npwrite d6 1000 50\nend exit",
    );
}

#[test]
fn what_is_in_a_buffer_goes_where_the_number_goes() {
    is_exact("printf 100\nopen d3 f0 rdwr,creat\ndup2 d1 d3\nend exit");
    is_exact("printf 100\nopen d3 %d1 wronly,creat\ndup2 d1 d3\nend exit");
}

#[test]
fn a_stream_of_a_duplicate() {
    is_exact(
        "make f0 9000\nopen d3 f0 rdwr\ndup d4 d3\nfdopen s0 d4 r+\nfread s0 1 100\nfflush s0\nread d3 100\n\
         fseek s0 set 0\nfwrite s0 1 50\nfclose s0\nend exit",
    );
}

#[test]
fn a_stream_that_becomes_another_file() {
    is_exact(
        "make f0 9000\nfopen s0 f0 r\nfread s0 1 100\nfreopen s0 f1 w+\nfwrite s0 1 5000\nfreopen s0 - r\n\
         fread s0 1 100\nfreopen out f2 w\nprintf 100\nend exit",
    );
}

// Names.

#[test]
fn a_name_that_was_a_file_and_is_a_pipe() {
    is_exact(
        "make p0 1000\nunlink p0\nmkfifo p0\nopen d3 p0 rdwr\nwrite d3 5000\nread d3 5000\nclose d3\nunlink p0\n\
         make p0 300\nend exit",
    );
}

#[test]
fn a_file_is_data_by_whatever_name() {
    is_exact("open d3 /dev/stdout wronly,creat\nwrite d3 5000\nend exit");
    is_exact(
        "open d3 f0 rdwr,creat\nopen d4 %d3 rdwr\nwrite d4 5000\nfopen s0 &d3 r+\nfread s0 1 100\nend exit",
    );
}

#[test]
fn a_file_is_data_in_shared_memory() {
    is_exact("make +f0 5000\nshm_open d3 +f1\nwrite d3 100\nfopen s0 +f0 r\nfread s0 1 100\nend exit");
}

#[test]
fn files_without_a_name() {
    is_exact(
        "open_tmpfile d3\nwrite d3 500\nmkstemp d4\nwrite d4 700\ntmpfile s0\nfwrite s0 1 900\nend exit",
    );
}

#[test]
fn relative_names_in_another_directory() {
    is_exact(
        "make f0 100\nmake d/f0 200\nchdir d\nmake f0 300\nfopen s0 f0 r\nfread s0 1 50\nchdir ..\nmake f0 400\nend exit",
    );
}

#[test]
fn mapped_streams_move_nothing() {
    is_exact(
        "make m0 9000\nfopen s0 m0 rm\nfread s0 1 5000\nfseek s0 set 10\ngetc s0 5\nfclose s0\nend exit",
    );
}

// What the C library writes by itself.

#[test]
fn messages_of_the_c_library() {
    is_exact("perror\npsignal\nwarnx 30\nerror 20\nend exit");
}

#[test]
fn a_program_says_that_a_file_is_missing() {
    is_exact("system f3 f2\nposix_spawn f3 f2\nend exec f3");
}

// Ends.

#[test]
fn what_is_in_buffers_at_each_end() {
    for end in ["exit", "_exit", "_Exit", "quick_exit", "raw_exit", "abort", "kill"] {
        is_exact(&format!("fopen s0 f0 w\nfwrite s0 1 5000\nwrite d1 100\nprintf 50\nend {end}"));
    }
}

#[test]
fn what_is_in_buffers_when_a_child_is_made() {
    for end in ["exit", "_exit", "quick_exit", "kill"] {
        is_exact(&format!(
            "fopen s0 f0 w\nfwrite s0 1 100\nfork {end}\nfwrite s0 1 50\nwrite d1 10\nend_fork\nfwrite s0 1 20\nend exit"
        ));
    }
}

#[test]
fn a_child_that_shares_memory_changes_its_descriptors() {
    is_exact(
        "make f0 300\nopen d3 f1 rdwr,creat\nwrite d1 100\nvfork f0 d3\nwrite d1 100\nread d0 100\nend exit",
    );
}

#[test]
fn threads_with_files_of_their_own() {
    let branch = "fopen s0 f0 w+\nfwrite s0 1 9000\nrewind s0\nfread s0 1 100\nfclose s0\nopen d3 f1 rdwr,creat\n\
                  write d3 500\nraw_close d3\nopen d4 f2 rdwr,creat\nwrite d4 700\nclose d4\n";
    is_exact(&format!("parallel\n{0}branch\n{0}branch\n{0}end_parallel\nend exit", times(5, branch)));
}
