//! What a model declares and states, without data: a line for each, sizes by their names.

use super::Model;
use super::sizes::show;

impl Model {
    /// A line for each parameter, each reported quantity and each summand of the log density.
    pub fn outline(&self, source: &str) -> Vec<String> {
        let shape = |ty: &super::Type| ty.shape.as_deref().map_or("?".to_string(), show);
        let parameters = self
            .parameters
            .iter()
            .map(|p| format!("param {} {} in {}", p.name.name, shape(&p.ty), p.support));
        let reported = [("derive", false), ("simulated", true)].into_iter().flat_map(|(word, drawn)| {
            let of = self.reported.iter().filter(move |r| r.ty.drawn == drawn);
            of.map(move |r| format!("{word} {} {}", r.name, shape(&r.ty)))
        });
        let terms = self.terms.iter().map(|t| {
            let (line, column) = t.span.line_column(source);
            let kind = if t.is_likelihood { "Likelihood" } else { "Prior" };
            format!("{kind} term from {line}:{column}")
        });
        parameters.chain(reported).chain(terms).collect()
    }
}
