//! Ratings with two crossed kinds of effects, simulated from a fixed seed.

use crate::simulated::{Table, outcomes};
use stickler::num::stream::Stream;

/// Ratings of 1,128 lecturers by 2,972 students, with 20 columns: about as many as in a table that is well
/// known for them. With `binary` it is whether they are above zero.
pub fn ratings(binary: bool) -> Table {
    let (n, k, counts) = (73_000, 20, [2972, 1128]);
    let mut stream = Stream::new(5, 0, 0);
    let beta: Vec<f64> = (0..k).map(|_| 0.3 * stream.normal()).collect();
    let [students, lecturers] = [(counts[0], 0.33), (counts[1], 0.5)]
        .map(|(count, sd)| (0..count).map(|_| sd * stream.normal()).collect::<Vec<f64>>());
    let mut x = vec![0.0; n * k];
    stream.fill_normal(&mut x);
    let [student, lecturer] = counts.map(|count| {
        let drawn = |i: usize, u: f64| if i < count { i + 1 } else { 1 + (u * count as f64) as usize };
        (0..n).map(|i| drawn(i, stream.uniform())).collect::<Vec<usize>>()
    });
    let mean = |i: usize| {
        let fixed: f64 = x[i * k..(i + 1) * k].iter().zip(&beta).map(|(a, b)| a * b).sum();
        fixed + students[student[i] - 1] + lecturers[lecturer[i] - 1]
    };
    let y = match binary {
        true => outcomes(&mut stream, (0..n).map(mean)),
        false => (0..n).map(mean).map(|m| 3.2 + m + 1.2 * stream.normal()).collect(),
    };
    Table { y, x, groups: vec![("student", student), ("lecturer", lecturer)] }
}
