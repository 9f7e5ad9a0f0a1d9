//! A plan as text.

use super::code::{Code, Plan, Slot};
use super::program::{Instruction, Primitive, Source};
use crate::ops::scalar::ScalarRow;
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

/// The programs of the elementwise functions that a plan calls, each once: what a processor is given to run,
/// but for array operations and instructions, which the plan itself shows.
pub fn kernels(plan: &Plan) -> String {
    let mut rows = Vec::new();
    called(plan, &mut rows);
    if rows.is_empty() {
        return "no elementwise functions: array operations and instructions alone, as in the plan\n".into();
    }
    let mut out = String::new();
    for row in rows {
        let args: Vec<String> =
            row.args.iter().enumerate().map(|(k, arg)| format!("{arg} = in{k}")).collect();
        let _ = writeln!(out, "{}({}): value = out0, then a slope for each", row.name, args.join(", "));
        match row.kernel.formula() {
            Some(formula) => formula.compile(|_| true).to_string().lines().for_each(|line| {
                let _ = writeln!(out, "    {line}");
            }),
            None => out.push_str("    number by number\n"),
        }
    }
    out
}

/// Adds the elementwise functions that a plan calls and that are not listed yet.
fn called(plan: &Plan, rows: &mut Vec<&'static ScalarRow>) {
    for step in &plan.steps {
        match &step.code {
            Code::Map { row, .. } | Code::MapSum { row, .. } | Code::Predicted { row, .. } => add(rows, row),
            Code::Program(code) => code.iter().for_each(|i| add_called(rows, i)),
            Code::Loop(code) => code.fed().chain(code.instructions()).for_each(|i| add_called(rows, i)),
            Code::Recursion { code, .. } => code.bodies().iter().for_each(|body| called(body, rows)),
            Code::Tiled { code, .. } => code.runs().for_each(|(_, body)| called(body, rows)),
            Code::Concat | Code::Array { .. } | Code::Ode { .. } => {}
        }
    }
}

fn add(rows: &mut Vec<&'static ScalarRow>, row: &'static ScalarRow) {
    if !rows.contains(&row) {
        rows.push(row);
    }
}

fn add_called(rows: &mut Vec<&'static ScalarRow>, i: &Instruction) {
    if let Primitive::Call(row) = i.op {
        add(rows, row);
    }
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
