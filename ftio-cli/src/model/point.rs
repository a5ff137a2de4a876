//! A scale as people write it.

use perf_model::{Error, parse_point};

/// `Processes=4096`; names may be shortened as long as they are clear (`p=4096`), and left out if there is
/// only one.
pub fn parse(text: &str, parameters: &[String]) -> Result<Vec<f64>, Error> {
    if let ([only], false) = (parameters, text.contains('=')) {
        return parse_point(&format!("{only}={text}"), parameters).or_else(|_| parse_point(text, parameters));
    }
    let full = |part: &str| match part.split_once('=') {
        Some((name, value)) => format!("{}={value}", resolve(name.trim(), parameters)),
        None => part.to_owned(),
    };
    let spelled: Vec<String> = text.split(',').map(full).collect();
    parse_point(&spelled.join(","), parameters)
}

/// The one parameter that a name can mean, or the name.
fn resolve<'a>(name: &'a str, parameters: &'a [String]) -> &'a str {
    if parameters.iter().any(|parameter| parameter == name) {
        return name;
    }
    let begins = |parameter: &&String| parameter.to_lowercase().starts_with(&name.to_lowercase());
    let mut meant = parameters.iter().filter(begins);
    match (meant.next(), meant.next()) {
        (Some(only), None) if !name.is_empty() => only,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long() {
        let one = ["Processes".to_owned()];
        let two = ["Processes".to_owned(), "n".to_owned()];
        for text in ["Processes=64", "p=64", " processes = 64", "64", "6.4e1"] {
            assert_eq!(parse(text, &one).unwrap(), [64.0], "{text}");
        }
        assert_eq!(parse("n=10, p=64", &two).unwrap(), [64.0, 10.0]);
        for text in ["", "x", "q=64", "p=64,p=64", "="] {
            let error = parse(text, &one).unwrap_err().to_string();
            assert!(error.starts_with("point to evaluate: expected Processes=NUMBER, found "), "{error}");
        }
        assert!(parse("64", &two).is_err());
    }
}
