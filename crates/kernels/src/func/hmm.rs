//! Hidden Markov models with their states summed out.

use super::args::{Checked, Types, agree, matrix, needed, node, square, ty, vector};
use super::row::{Function, Ty};
use crate::ops::array::HmmForward;

/// Refuses a start, moves and observations that do not have the same number of states.
fn check(args: Types, [start, moves, seen]: [(usize, &str); 3]) -> Checked {
    let (s, m, o) = (ty(args, start.0)?, ty(args, moves.0)?, ty(args, seen.0)?);
    let k = square(m, moves.1)?;
    agree(&k, &vector(s, start.1)?, (moves.1, m), (start.1, s))?;
    agree(&k, &matrix(o, seen.1)?.1, (moves.1, m), (seen.1, o))?;
    Ok(Ty::real(vec![]))
}

pub(super) static ROWS: &[Function] = &[
    Function {
        name: "hmm_marginal",
        args: &[needed("log_obs"), needed("gamma"), needed("rho")],
        variadic: false,
        doc: "log probability of a sequence whose states are summed out: log_obs[n, k] is the log density of observation n in \
              state k, row i of gamma holds the probabilities of the moves from state i, rho those of the first state",
        example: (
            "hmm_marginal([[log(0.5), log(0.1)], [log(0.2), log(0.4)]], [[0.9, 0.1], [0.3, 0.7]], [0.6, 0.4])",
            "log(0.3 * (0.9 * 0.2 + 0.1 * 0.4) + 0.04 * (0.3 * 0.2 + 0.7 * 0.4))",
        ),
        check: |args| check(args, [(2, "rho"), (1, "gamma"), (0, "log_obs")]),
        build: |b, args| {
            let (seen, moves, start) = (node(args, 0)?, node(args, 1)?, node(args, 2)?);
            b.array(HmmForward { probabilities: true }, &[start, moves, seen])
        },
    },
    Function {
        name: "hmm_forward",
        args: &[needed("log_init"), needed("log_trans"), needed("log_obs")],
        variadic: false,
        doc: "the same as hmm_marginal from logs: of the probabilities of the first state, of the moves, of the observations",
        example: (
            "hmm_forward(log([0.6, 0.4]), log([[0.9, 0.1], [0.3, 0.7]]), log([[0.5, 0.1]]))",
            "log(0.34)",
        ),
        check: |args| check(args, [(0, "log_init"), (1, "log_trans"), (2, "log_obs")]),
        build: |b, args| {
            let (start, moves, seen) = (node(args, 0)?, node(args, 1)?, node(args, 2)?);
            b.array(HmmForward { probabilities: false }, &[start, moves, seen])
        },
    },
];
