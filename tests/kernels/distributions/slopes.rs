//! Slopes of every part, log cdf and log ccdf: against forward mode and finite differences, to second order.

use super::{data_positions, inputs, numbers, rows};
use crate::common::check_row;

#[test]
fn of_parts() {
    for (dist, parts) in rows() {
        let data = data_positions(dist);
        for part in parts {
            let skip: Vec<usize> = (0..part.of.len()).filter(|&i| data.contains(&part.of[i])).collect();
            part.row.probes.iter().for_each(|probe| check_row(part.row, probe, &skip, dist.name));
            for probe in dist.probes {
                let (x, args) = numbers(probe);
                check_row(part.row, &inputs(part, x, &args), &skip, dist.name);
            }
        }
    }
}

#[test]
fn of_log_cdf_and_log_ccdf() {
    for (dist, _) in rows() {
        let skip: Vec<usize> = data_positions(dist).into_iter().filter(|&k| k <= dist.args.len()).collect();
        for row in [dist.lcdf, dist.lccdf].into_iter().flatten() {
            row.probes.iter().for_each(|probe| check_row(row, probe, &skip, dist.name));
        }
    }
}
