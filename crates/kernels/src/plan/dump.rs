//! A plan as text.

use super::code::{Code, Plan, Slot};
use super::program::{Instruction, Primitive, Source};
use std::fmt::Write;

/// One line a step: where it writes, what it runs, what it keeps.
pub fn dump(plan: &Plan) -> String {
    let mut out = format!(
        "{} coordinates, {} steps, {} values, {} kept for the reverse sweep\n",
        plan.inputs,
        plan.steps.len(),
        plan.values,
        plan.saved
    );
    for step in &plan.steps {
        if let Code::Program(code) = &step.code {
            code.iter().for_each(|i| line(&mut out, "", i));
            continue;
        }
        let args: Vec<String> = step
            .args
            .iter()
            .map(|slot| match slot {
                Slot::Const(c) => format!("const[{}]", c.len()),
                Slot::Data { at, len } => format!("data[{at}..{}]", at + len),
                Slot::Var { at, len } => format!("{at}..{}", at + len),
            })
            .collect();
        let name = step.code.name();
        let _ = writeln!(out, "{}..{} = {name}({})", step.at, step.at + step.len, args.join(", "));
        match &step.code {
            Code::Loop(code) => {
                code.fed().for_each(|i| {
                    let _ = writeln!(out, "    fed by {}", instruction(i, fed));
                });
                code.instructions().for_each(|i| line(&mut out, "    ", i));
            }
            Code::Recursion { code, .. } => code.bodies().iter().for_each(|body| indented(&mut out, body)),
            Code::Tiled { code, .. } => code.runs().for_each(|(_, body)| indented(&mut out, body)),
            Code::Map { .. }
            | Code::MapSum { .. }
            | Code::Predicted { .. }
            | Code::Concat
            | Code::Array { .. }
            | Code::Ode { .. }
            | Code::Program(_) => {}
        }
    }
    out
}

/// A plan within a plan.
fn indented(out: &mut String, body: &Plan) {
    dump(body).lines().for_each(|line| {
        let _ = writeln!(out, "    {line}");
    });
}

fn line(out: &mut String, indent: &str, i: &Instruction) {
    let end = i.out + i.op.written(i.n);
    let _ = writeln!(out, "{indent}{}..{end} = {}", i.out, instruction(i, placed));
}

/// An instruction, with the arguments that `each` describes where they have a number for each element.
fn instruction(i: &Instruction, each: impl Fn(&Source, usize) -> String) -> String {
    let args: Vec<String> = i.args[..i.op.arity()]
        .iter()
        .map(|a| if a.step == 0 { a.at.to_string() } else { each(a, i.n) })
        .collect();
    format!("{}({})", name(i), args.join(", "))
}

/// What an instruction does.
pub(super) fn name(i: &Instruction) -> String {
    match i.op {
        Primitive::Call(row) => row.name.to_string(),
        op => format!("{op:?}").to_lowercase(),
    }
}

/// By its place in the buffer of values.
fn placed(a: &Source, n: usize) -> String {
    format!("{}..{}", a.at, a.at + n)
}

/// The same for what feeds a loop, where data are not in the buffer.
fn fed(a: &Source, n: usize) -> String {
    if a.varies { placed(a, n) } else { format!("const[{n}]") }
}
