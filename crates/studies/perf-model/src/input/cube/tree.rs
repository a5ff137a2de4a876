//! `anchor.xml`: the metrics, the tree of calls and the number of processes and threads.

use roxmltree::{Document, Node};

/// A metric at the top of the metric tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    pub name: String,
    /// By which its files are named.
    pub id: String,
    /// Values of a callpath have those of what it calls in them.
    pub inclusive: bool,
    pub kind: String,
}

impl Metric {
    /// The value of a run from those of its processes.
    pub fn sum(&self, values: &[f64]) -> f64 {
        match self.kind.as_str() {
            "MINDOUBLE" => values.iter().copied().fold(f64::INFINITY, f64::min),
            "MAXDOUBLE" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            _ => values.iter().sum(),
        }
    }

    /// Sums and differences mean something.
    pub fn adds_up(&self) -> bool {
        !matches!(self.kind.as_str(), "MINDOUBLE" | "MAXDOUBLE")
    }
}

/// A callpath.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub path: String,
    pub children: Vec<usize>,
}

/// What the file tells.
#[derive(Debug, Default)]
pub(super) struct Anchor {
    pub metrics: Vec<Metric>,
    /// In the order of the file, callers before what they call.
    pub calls: Vec<Call>,
    pub roots: Vec<usize>,
    pub locations: usize,
}

impl Anchor {
    pub fn parse(text: &str) -> Result<Anchor, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let root = document.root_element();
        let section = |name: &str| root.children().find(|node| node.has_tag_name(name));
        let (Some(metrics), Some(program), Some(system)) =
            (section("metrics"), section("program"), section("system"))
        else {
            return Err("no metrics, program and system".into());
        };
        let mut anchor = Anchor::default();
        let metrics = metrics.children().filter(|node| node.has_tag_name("metric"));
        anchor.metrics = metrics.filter_map(metric).collect();
        anchor.locations = system.descendants().filter(|node| node.has_tag_name("location")).count();
        let regions: std::collections::HashMap<&str, &str> = program
            .children()
            .filter(|node| node.has_tag_name("region"))
            .filter_map(|node| Some((node.attribute("id")?, text_of(node, "name")?)))
            .collect();
        // Depth first, in the order of the file.
        let mut waiting: Vec<(Node<'_, '_>, Option<usize>)> =
            calls_in(program).map(|node| (node, None)).collect();
        waiting.reverse();
        while let Some((node, caller)) = waiting.pop() {
            let region = node.attribute("calleeId").and_then(|id| regions.get(id));
            let region =
                region.ok_or_else(|| format!("a call of an unknown region: {:?}", node.attributes()))?;
            let path = match caller {
                Some(caller) => format!("{}->{region}", anchor.calls[caller].path),
                None => (*region).to_owned(),
            };
            let index = anchor.calls.len();
            match caller {
                Some(caller) => anchor.calls[caller].children.push(index),
                None => anchor.roots.push(index),
            }
            anchor.calls.push(Call { path, children: Vec::new() });
            let before = waiting.len();
            waiting.extend(calls_in(node).map(|node| (node, Some(index))));
            waiting[before..].reverse();
        }
        Ok(anchor)
    }

    /// The calls in the order in which the values of a metric are numbered: exclusive ones depth first, of
    /// inclusive ones all children of a call before their own.
    pub fn order(&self, inclusive: bool) -> Vec<usize> {
        if !inclusive {
            return (0..self.calls.len()).collect();
        }
        let mut order = Vec::with_capacity(self.calls.len());
        for root in &self.roots {
            order.push(*root);
            let mut waiting = vec![*root];
            while let Some(call) = waiting.pop() {
                let children = &self.calls[call].children;
                order.extend(children);
                waiting.extend(children.iter().rev());
            }
        }
        order
    }
}

fn calls_in<'a, 'b>(node: Node<'a, 'b>) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(|node| node.has_tag_name("cnode"))
}

fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.children().find(|node| node.has_tag_name(name))?.text()
}

fn metric(node: Node<'_, '_>) -> Option<Metric> {
    Some(Metric {
        name: text_of(node, "uniq_name")?.to_owned(),
        id: node.attribute("id")?.to_owned(),
        inclusive: node.attribute("type") == Some("INCLUSIVE"),
        kind: text_of(node, "dtype")?.trim().to_owned(),
    })
}
