//! `stickler dump`: any stage between text and plan, as text.

use super::args::{DumpArgs, Stage};
use super::{Failure, Outcome, load};
use crate::infer;
use std::process::ExitCode;

pub(super) fn run(args: &DumpArgs) -> Outcome {
    let source = load::Source::read(&args.model.model)?;
    let program = crate::syntax::parse(&source.text).map_err(|e| source.failure(&e))?;
    if args.dot && args.stage != Stage::Graph {
        return Err(Failure::Usage("--dot draws the graph: use it with --stage graph".into()));
    }
    if args.stage == Stage::Ast {
        out!("{}", crate::syntax::dump(&program));
        return Ok(ExitCode::SUCCESS);
    }
    if args.stage == Stage::Model && args.model.data.is_empty() && args.model.set.is_empty() {
        let model = crate::model::elaborate(&program, &source.text).map_err(|e| source.failure(&e))?;
        model.outline(&source.text).iter().for_each(|line| outln!("{line}"));
        return Ok(ExitCode::SUCCESS);
    }
    if args.stage == Stage::Strategy {
        let loaded = load::model(&args.model)?;
        let found = infer::strategy(&loaded.model(), &loaded.target, &infer::Options::default());
        let strategy = found.map_err(|e| super::fit::no_fit(&loaded, &e))?;
        out!("{}", crate::report::strategy_text(&strategy));
        return Ok(ExitCode::SUCCESS);
    }
    let (_, target) = load::target(&args.model)?;
    let lowered = target.lowered();
    let roots = target.term_nodes();
    match args.stage {
        Stage::Ast | Stage::Strategy => {}
        Stage::Model => {
            for p in &lowered.parameters {
                let dims = &lowered.graph.node(p.named.node).dims;
                outln!(
                    "param {} {dims:?} in {} at coordinates {}..{}",
                    p.named.name,
                    p.support,
                    p.offset,
                    p.offset + p.size
                );
            }
            for (word, named) in [("derive", &lowered.derived), ("simulated", &lowered.simulated)] {
                for n in named {
                    outln!("{word} {} {:?}", n.name, lowered.graph.node(n.node).dims);
                }
            }
            for t in &lowered.terms {
                let (line, column) = t.span.line_column(&source.text);
                outln!("{:?} term %{} from {line}:{column}", t.kind, t.node.0);
            }
        }
        Stage::Graph if args.dot => out!("{}", crate::graph::dot(&lowered.graph, &roots)),
        Stage::Graph => out!("{}", crate::graph::text(&lowered.graph, &roots)),
        Stage::Plan => out!("{}", crate::plan::dump(target.plan())),
        Stage::Kernels => out!("{}", crate::plan::kernels(target.plan())),
        Stage::Certificate => {
            let certificate = crate::certify::certify(lowered);
            out!("{}", crate::report::certificate::dump(&source.text, &certificate));
        }
    }
    Ok(ExitCode::SUCCESS)
}
