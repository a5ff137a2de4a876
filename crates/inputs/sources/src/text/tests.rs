use super::super::pattern::GEKKOFS;
use super::*;
use crate::request::Request;
use proptest::prelude::*;

fn read(pattern: &str, text: &str) -> Result<(Vec<Request>, Job), SourceError> {
    let pattern = Pattern::parse("p.toml", pattern)?;
    let text = Text { name: "t.txt".into(), text: text.into(), pattern };
    let mut requests = Vec::new();
    let job = Box::new(Fed("t.txt".into(), text))
        .read(Span::Actual, &mut |batch| requests.extend_from_slice(batch))?;
    Ok((requests, job))
}

const LINES: &str = r"
request = '^\[(?P<rank>\d+)\] (?P<op>\w+) (?P<bytes>\S+) KiB at (?P<start>\S+) for (?P<duration>\S+)$'
[units]
bytes = 'KiB'
start = 'ms'
duration = 'us'
[numbers]
ranks = '(\d+) processes'
";

#[test]
fn one_request_per_line() {
    let text = "started 8 processes\n[0] write 4 KiB at 1.5 for 250\nnoise\n[3] read 1 KiB at 2 for 10\n";
    let (requests, job) = read(LINES, text).unwrap();
    assert_eq!(
        requests,
        [
            Request { rank: Some(0), ..Request::new(1_500_000, 1_750_000, 4096, Class::WriteSync) },
            Request { rank: Some(3), ..Request::new(2_000_000, 2_010_000, 1024, Class::ReadSync) },
        ]
    );
    assert_eq!((job.ranks, job.complete), (Some(8), true));
}

#[test]
fn lists_of_numbers() {
    let text =
        "avg_thruput_mib: [0.0,2.0]\nstart_t_micro: [0500,10500]\nend_t_micro: [1000, 20500]\npid: 7\n";
    assert!(Pattern::gekkofs().matches(text));
    let (requests, _) = read(GEKKOFS, text).unwrap();
    let expected = [
        Request::new(500_000, 1_000_000, 0, Class::WriteSync),
        Request::new(10_500_000, 20_500_000, 20972, Class::WriteSync),
    ];
    assert_eq!(requests, expected);
}

#[test]
fn what_is_wrong_with_the_text_is_said() {
    let text = |lists: &str| read(GEKKOFS, lists).unwrap_err().to_string();
    assert_eq!(
        text("avg_thruput_mib: [1]\nstart_t_micro: [1, 2]\nend_t_micro: [1, 2]"),
        "t.txt: the list of bandwidth: expected as many numbers as in start (2), found 1"
    );
    assert_eq!(
        text("avg_thruput_mib: [1]\nstart_t_micro: [x]\nend_t_micro: [1]"),
        "t.txt: line 2, start: expected a number, found \"x\""
    );
    assert_eq!(text("nothing"), "t.txt: expected text that the pattern matches, found none");
    let error = read(LINES, "[0] seek 4 KiB at 1.5 for 250\n").unwrap_err().to_string();
    assert_eq!(error, "t.txt: holds nothing usable; line 1: expected read or write, found \"seek\"");
}

#[test]
fn what_is_wrong_with_the_pattern_is_said() {
    for (pattern, message) in [
        ("mode = 3", "line 1: expected a pattern file, found invalid type: integer"),
        ("request = '('", "request: expected a regular expression, found \"(\""),
        ("request = '(?P<begin>.)'", "request: expected groups named start, end"),
        ("request = '(?P<start>.)'", "the fields: expected a request or lists with start, end"),
        ("[lists]\nstart = 'x'", "start: expected a group in parentheses, found \"x\""),
        ("[lists]\nbegin = '(x)'", "lists: expected start, end, duration"),
        ("nonsense = 1", "line 1: expected a pattern file, found unknown field"),
        ("", "the fields: expected"),
    ] {
        let error = Pattern::parse("p.toml", pattern).unwrap_err().to_string();
        assert!(error.starts_with(&format!("p.toml: {message}")), "{error}");
    }
    let error = Pattern::parse("p", &format!("{LINES}\n[units]\nx = 'y'")).unwrap_err().to_string();
    assert!(error.starts_with("p: line "), "{error}");
    let unit = LINES.replace("'KiB'", "'parsec'");
    let error = Pattern::parse("p", &unit).unwrap_err().to_string();
    assert!(error.starts_with("p: units, bytes: expected units such as"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_survived(
        text in concat!(
            r"(?:\[[0-9]{0,3}\] (?:write|read|[a-z]{3}) [-0-9.einf]{0,6} KiB ",
            r"at [-0-9.na]{0,6} for [-0-9]{0,6}\n){0,8}",
        ),
    ) {
        let _ = read(LINES, &text);
    }

    #[test]
    fn any_pattern_is_survived(pattern in "\\PC{0,60}") {
        let _ = Pattern::parse("p", &pattern);
        let _ = Pattern::parse("p", &format!("request = '''{pattern}'''"));
    }
}
