//! A question and its answer, without anything of HTTP that handlers need not know.

use crate::ingest::push::NotTaken;
use crate::series::Damaged;
use crate::service::Service;
use crate::share::{Full, Payer};
use crate::store::JobRow;
use crate::viewer::{Role, Viewer};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub role: Role,
    pub uid: Option<u32>,
}

impl Identity {
    /// Who pays for what they ask.
    pub fn payer(&self) -> Payer {
        self.uid.map_or_else(|| Payer::Token(self.name.clone()), Payer::User)
    }

    /// Whose jobs they see.
    pub fn viewer(&self) -> Viewer {
        Viewer { all: self.role >= Role::Operator, uid: self.uid }
    }
}

/// A question.
#[derive(Debug)]
pub struct Context {
    pub service: Arc<Service>,
    pub who: Identity,
    /// The path that was asked for.
    pub path: String,
    /// What stands for the `{…}` of the route.
    pub places: Vec<String>,
    pub query: Vec<(String, String)>,
    /// The body of a POST, if it is JSON.
    pub body: Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
    /// What the client would like.
    pub accept: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub kind: &'static str,
    pub body: Vec<u8>,
    /// May be kept by the browser.
    pub cacheable: bool,
    /// Instead of the policy of our own page.
    pub policy: Option<&'static str>,
}

/// No answer, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub status: u16,
    pub text: String,
    /// Because the database is damaged.
    pub damage: bool,
}

/// What a handler gives.
pub type Result<T = Answer> = std::result::Result<T, Fault>;

impl Fault {
    pub fn new(status: u16, text: impl Into<String>) -> Self {
        Fault { status, text: text.into(), damage: false }
    }

    /// As JSON: our own `error`, and what the original answers.
    pub fn answer(&self) -> Answer {
        let body = json!({"error": self.text, "operation": self.text, "success": false});
        Answer { status: self.status, ..Answer::json(&body) }
    }
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        let damage = crate::store::is_damaged(&error);
        Fault { damage, ..Fault::new(503, format!("the data cannot be read or written: {error}")) }
    }
}

impl From<NotTaken> for Fault {
    fn from(error: NotTaken) -> Self {
        match error {
            NotTaken::Wrong(text) => bad(text),
            NotTaken::NotStored(text) => Fault::new(503, text),
            NotTaken::TooMuch(text) => Fault::new(429, text),
        }
    }
}

impl From<Damaged> for Fault {
    fn from(_: Damaged) -> Self {
        Fault::new(410, "the series of this job was damaged, and is put aside")
    }
}

impl From<Full> for Fault {
    fn from(full: Full) -> Self {
        Fault::new(429, full.to_string())
    }
}

/// What is wrong with a question.
pub fn bad(text: impl Into<String>) -> Fault {
    Fault::new(400, text)
}

/// What is not there, or not for who asks.
pub fn absent(text: impl Into<String>) -> Fault {
    Fault::new(404, text)
}

impl Answer {
    pub fn json(value: &impl Serialize) -> Self {
        let body = serde_json::to_vec(value).unwrap_or_default();
        Answer { status: 200, kind: "application/json", body, cacheable: false, policy: None }
    }

    pub fn text(kind: &'static str, text: impl Into<Vec<u8>>) -> Self {
        Answer { status: 200, kind, body: text.into(), cacheable: false, policy: None }
    }

    /// The original's word that something was done.
    pub fn done(operation: impl Into<String>) -> Self {
        Answer::json(&json!({"operation": operation.into(), "success": true}))
    }
}

/// The parts of a query. `Err`: it cannot be read, or has a name twice.
pub fn parse_query(text: &str) -> std::result::Result<Vec<(String, String)>, String> {
    let mut query: Vec<(String, String)> = Vec::new();
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (name, value) = (decoded(name, true)?, decoded(value, true)?);
        if query.iter().any(|(known, _)| *known == name) {
            return Err(format!("{name}: given twice"));
        }
        query.push((name, value));
    }
    Ok(query)
}

/// Without `%XX`; in queries `+` is a blank.
pub fn decoded(text: &str, plus: bool) -> std::result::Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'%' => {
                let digit = |byte: &u8| (*byte as char).to_digit(16);
                let code = match after {
                    [high, low, ..] => digit(high).zip(digit(low)).map(|(high, low)| (16 * high + low) as u8),
                    _ => None,
                };
                bytes.push(code.ok_or("expected two digits after %")?);
                rest = &after[2..];
            }
            b'+' if plus => bytes.push(b' '),
            byte => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8".into())
}

impl Context {
    pub fn viewer(&self) -> Viewer {
        self.who.viewer()
    }

    /// A parameter, from the query or the body.
    pub fn get(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = self.query.iter().find(|(known, _)| known == name) {
            return Some(value.clone());
        }
        match self.body.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    pub fn need(&self, name: &str) -> Result<String> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| bad(format!("{name}: missing")))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number: Option<f64> = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Some).ok_or_else(|| bad(format!("{name}: expected a number")))
    }

    pub fn need_number(&self, name: &str) -> Result<f64> {
        self.number(name)?.ok_or_else(|| bad(format!("{name}: missing")))
    }

    /// `1` or `true`.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name).as_deref(), Some("1" | "true"))
    }

    /// The job id: the original calls it `job` or `jobid`.
    pub fn jobid(&self) -> Option<String> {
        self.get("jobid").or_else(|| self.get("job"))
    }

    /// The job that is asked for, by its id.
    pub fn job(&self) -> Result<JobRow> {
        let jobid = self.jobid().ok_or_else(|| bad("jobid: missing"))?;
        self.service.find(&jobid, &self.viewer())?.ok_or_else(|| no_job(&jobid))
    }

    /// The job that is asked for, by its number in the path.
    pub fn job_by_number(&self) -> Result<JobRow> {
        let text = self.places.first().map(String::as_str).unwrap_or_default();
        let id = text.parse().map_err(|_| absent(format!("{text}: not the number of a job")))?;
        self.service.job(id, &self.viewer())?.ok_or_else(|| no_job(text))
    }

    /// The application that is asked for: by a job of it, or by its key; the only one there is, if nothing
    /// is said.
    pub fn app(&self) -> Result<String> {
        if let Some(app) = self.get("app").or_else(|| self.get("command")) {
            return Ok(app);
        }
        if self.jobid().is_some() {
            let row = self.job()?;
            return Ok(row.app);
        }
        let apps = self.service.reader().apps(&self.viewer(), 2)?;
        match apps.as_slice() {
            [one] => Ok(one.app.clone()),
            _ => Err(bad("jobid: missing")),
        }
    }
}

fn no_job(jobid: &str) -> Fault {
    absent(format!("{}: no such job", crate::job::clean(jobid, 64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn queries_are_decoded() {
        let query = parse_query("jobid=4711.0&filter=a+b%2Fc&x").unwrap();
        assert_eq!(query[1], ("filter".into(), "a b/c".into()));
        assert_eq!(query[2], ("x".into(), String::new()));
        for wrong in ["a=%", "a=%2", "a=%zz", "a=%ff", "a=1&a=2"] {
            assert!(parse_query(wrong).is_err(), "{wrong}");
        }
        assert_eq!(decoded("a+b", false).unwrap(), "a+b");
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(text in "\\PC{0,80}") {
            let _ = parse_query(&text);
        }

        #[test]
        fn what_is_encoded_comes_back(text in "\\PC{0,40}") {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(decoded(&encoded, true).unwrap(), text);
        }
    }
}
