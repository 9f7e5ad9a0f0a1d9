//! Evaluates one operation on constants.

use super::arena::{Node, Op};
use crate::ops::operand::{Arg, Broadcast, Lane, Operand};
use crate::ops::scalar;

/// The value of an operation whose arguments are all constant; None for a leaf.
pub(super) fn fold(op: &Op, args: &[&Node], dims: &[usize]) -> Option<Vec<f64>> {
    let values: Vec<Arg<f64>> =
        args.iter().map(|a| a.constant().map(|c| Arg::Const(c))).collect::<Option<_>>()?;
    let mut out = vec![0.0; dims.iter().product()];
    match op {
        // Equations are solved and loops are run by their plans.
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => return None,
        Op::Map(row) => {
            let indices: Vec<Broadcast> = args.iter().map(|a| Broadcast::between(&a.dims, dims)).collect();
            scalar::map(<f64 as Lane>::scalar(row.kernel), &operands(&values, &indices), &mut out);
        }
        Op::MapSum { row, weighted } => {
            let shape = super::build::common_dims(args)?;
            let count = shape.iter().product();
            let indices: Vec<Broadcast> = args.iter().map(|a| Broadcast::between(&a.dims, &shape)).collect();
            let functions = args.len() - usize::from(*weighted);
            let weights: Option<Vec<f64>> = weighted.then(|| {
                let w = Operand::new(values[functions], &indices[functions]);
                (0..count).map(|i| w.at(i)).collect()
            });
            let operands = operands(&values[..functions], &indices[..functions]);
            out[0] =
                scalar::sum_value(<f64 as Lane>::scalar(row.kernel), &operands, weights.as_deref(), count);
        }
        Op::Array(op) => {
            let dims: Vec<&[usize]> = args.iter().map(|a| a.dims.as_slice()).collect();
            let mut saved = vec![0.0; op.0.saved(&dims)];
            let mut cx =
                crate::ops::array::Forward { args: &values, dims: &dims, out: &mut out, saved: &mut saved };
            <f64 as Lane>::array(op.0.as_ref()).forward(&mut cx);
        }
    }
    Some(out)
}

fn operands<'a>(values: &[Arg<'a, f64>], indices: &'a [Broadcast]) -> Vec<Operand<'a, f64>> {
    values.iter().zip(indices).map(|(&arg, index)| Operand::new(arg, index)).collect()
}
