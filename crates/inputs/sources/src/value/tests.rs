use super::*;
use proptest::prelude::*;

fn json(text: &str) -> Value {
    let mut values = Value::from_json("test", text.as_bytes()).unwrap();
    assert_eq!(values.len(), 1);
    values.remove(0)
}

fn number(number: f64) -> Value {
    Value::Number(number)
}

#[test]
fn json_of_every_kind() {
    let value =
        json(" {\"a\": [1, -2.5e3, true, null], \"b\\n\\u00e9\": {\"c\": \"d\"}, \"e\": [], \"f\": {}} ");
    let list = Value::List(vec![number(1.0), number(-2500.0), Value::Bool(true), Value::Null]);
    assert_eq!(value.get("a"), Some(&list));
    assert_eq!(value.get("b\né").unwrap().get("c"), Some(&Value::Text("d".into())));
    assert_eq!((value.get("e"), value.get("f")), (Some(&Value::List(vec![])), Some(&Value::Map(vec![]))));
}

#[test]
fn numbers_that_are_none_are_read() {
    let numbers = json("[NaN, Infinity, -Infinity, null]").as_numbers().unwrap();
    assert!(numbers[0].is_nan() && numbers[3].is_nan());
    assert_eq!(numbers[1..3], [f64::INFINITY, f64::NEG_INFINITY]);
}

#[test]
fn several_values_after_each_other() {
    assert_eq!(Value::from_json("x", b"{}\n\t{}\n").unwrap().len(), 2);
    assert_eq!(Value::from_message_pack("x", &[0x80, 0x80, 0x01]).unwrap().len(), 3);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let error = |text: &str| Value::from_json("f.json", text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error("{\"a\": 1,\n \"b\" 2}"), "f.json: line 2, column 6: expected a colon, found \"2}\"");
    assert_eq!(error("[1, 2"), "f.json: line 1, column 6: expected a comma or ], found the end");
    assert!(error(&"[".repeat(100)).contains("at most 64 levels"));
    let error = Value::from_message_pack("f", &[0xdd, 0xff, 0xff, 0xff, 0xff, 1]).unwrap_err().to_string();
    assert_eq!(error, "f: byte 5: expected a list no longer than the rest of the input, found \"\\u{1}\"");
    let deep = Value::from_message_pack("f", &[0x91; 100]).unwrap_err().to_string();
    assert!(deep.contains("at most 64 levels"), "{deep}");
}

#[test]
fn message_pack_of_every_kind() {
    let cases: [(&[u8], Value); 14] = [
        (&[0x05], number(5.0)),
        (&[0xff], number(-1.0)),
        (&[0xcd, 1, 0], number(256.0)),
        (&[0xd0, 0x80], number(-128.0)),
        (&[0xd1, 0xff, 0xfe], number(-2.0)),
        (&[0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd], number(-3.0)),
        (&[0xca, 0x3f, 0xc0, 0, 0], number(1.5)),
        (&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], number(1.5)),
        (&[0xa2, b'h', b'i'], Value::Text("hi".into())),
        (&[0xd9, 1, b'x'], Value::Text("x".into())),
        (&[0xc4, 2, 1, 2], Value::Null),
        (&[0xd5, 1, 2, 3], Value::Null),
        (&[0x92, 1, 0xc3], Value::List(vec![number(1.0), Value::Bool(true)])),
        (&[0x81, 0xa1, b'k', 0xc0], Value::Map(vec![("k".into(), Value::Null)])),
    ];
    for (bytes, value) in cases {
        assert_eq!(Value::from_message_pack("x", bytes).unwrap(), [value], "{bytes:x?}");
    }
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value as Json;
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        prop::num::f64::NORMAL.prop_map(Json::from),
        ".{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::btree_map(".{0,5}", inner, 0..6)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (ours, theirs) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::Number(a), Json::Number(b)) => Some(*a) == b.as_f64(),
        (Value::Text(a), Json::String(b)) => a == b,
        (Value::List(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|b| same(value, b)))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn json_agrees_with_serde(value in any_value()) {
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            prop_assert!(same(&json(&text), &value), "{}", text);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Value::from_json("x", &bytes);
        let _ = Value::from_message_pack("x", &bytes);
    }

    #[test]
    fn any_text_like_json_is_survived(text in r#"[\[\]{}",:0-9a-u\\. \n-]{0,80}"#) {
        let _ = Value::from_json("x", text.as_bytes());
    }
}

#[test]
fn characters_beyond_the_first_plane_are_two_escapes() {
    let read = |text: &str| Value::from_json("x", text.as_bytes()).unwrap().remove(0);
    assert_eq!(read(r#""\ud83d\ude00!""#), Value::Text("😀!".into()));
    assert_eq!(read(r#""\ud83d""#), Value::Text("\u{fffd}".into()));
    assert_eq!(read(r#""\ud83dA""#), Value::Text("\u{fffd}A".into()));
    assert_eq!(read(r#""\u00e9\u00e8""#), Value::Text("éè".into()));
}
