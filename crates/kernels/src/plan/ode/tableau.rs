//! The explicit Runge-Kutta method of order 8 of Dormand and Prince, with error estimates of order 5 and 3
//! (Hairer, Nørsett and Wanner, 'Solving Ordinary Differential Equations I', section II.5).

/// Number of stages.
pub(super) const STAGES: usize = 12;

/// Where in the step each stage stands; the last is its end.
pub(super) const NODES: [f64; STAGES + 1] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    1.0 / 3.0,
    0.25,
    4.0 / 13.0,
    0.6512820512820513,
    0.6,
    6.0 / 7.0,
    1.0,
    1.0,
];

/// How each stage follows from the rates of those before it; the last line gives the new state.
pub(super) const LINES: [&[f64]; STAGES + 1] = [
    &[],
    &[0.05260015195876773],
    &[0.0197250569845379, 0.0591751709536137],
    &[0.02958758547680685, 0.0, 0.08876275643042054],
    &[0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792],
    &[1.0 / 27.0, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242],
    &[0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
    &[
        0.03709200011850479,
        0.0,
        0.0,
        0.17038392571223998,
        0.10726203044637328,
        -0.015319437748624402,
        0.008273789163814023,
    ],
    &[
        0.6241109587160757,
        0.0,
        0.0,
        -3.3608926294469414,
        -0.868219346841726,
        27.59209969944671,
        20.154067550477894,
        -43.48988418106996,
    ],
    &[
        0.47766253643826434,
        0.0,
        0.0,
        -2.4881146199716677,
        -0.590290826836843,
        21.230051448181193,
        15.279233632882423,
        -33.28821096898486,
        -0.020331201708508627,
    ],
    &[
        -0.9371424300859873,
        0.0,
        0.0,
        5.186372428844064,
        1.0914373489967295,
        -8.149787010746927,
        -18.52006565999696,
        22.739487099350505,
        2.4936055526796523,
        -3.0467644718982196,
    ],
    &[
        2.273310147516538,
        0.0,
        0.0,
        -10.53449546673725,
        -2.0008720582248625,
        -17.9589318631188,
        27.94888452941996,
        -2.8589982771350235,
        -8.87285693353063,
        12.360567175794303,
        0.6433927460157636,
    ],
    &[
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ],
];

/// The difference to a result of order 5.
pub(super) const ERROR_5: [f64; STAGES] = [
    0.01312004499419488,
    0.0,
    0.0,
    0.0,
    0.0,
    -1.2251564463762044,
    -0.4957589496572502,
    1.6643771824549864,
    -0.35032884874997366,
    0.3341791187130175,
    0.08192320648511571,
    -0.022355307863886294,
];

/// The difference to a result of order 3.
pub(super) const ERROR_3: [f64; STAGES] = [
    -0.18980075407240762,
    0.0,
    0.0,
    0.0,
    0.0,
    4.450312892752409,
    1.8915178993145003,
    -5.801203960010585,
    -0.4226823213237919,
    -0.1521609496625161,
    0.20136540080403034,
    0.02265179219836082,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ b_i c_i^k = 1 / (k + 1) for an exact quadrature of degree k, Σ_j a_ij = c_i, and error weights that
    /// cancel what both results have in common.
    #[test]
    fn the_numbers_satisfy_the_conditions_of_their_order() {
        let weights = LINES[STAGES];
        for k in 0..8 {
            let sum: f64 = weights.iter().zip(NODES).map(|(b, c)| b * c.powi(k)).sum();
            assert!((sum - 1.0 / f64::from(k + 1)).abs() < 1e-14, "degree {k}: {sum}");
        }
        for (line, node) in LINES.iter().zip(NODES) {
            assert!((line.iter().sum::<f64>() - node).abs() < 1e-13);
        }
        for (error, degree) in [(ERROR_5, 5), (ERROR_3, 3)] {
            for k in 0..degree {
                let sum: f64 = error.iter().zip(NODES).map(|(e, c)| e * c.powi(k)).sum();
                assert!(sum.abs() < 1e-13, "order {degree}, degree {k}: {sum}");
            }
        }
    }

    /// Σ b_i a_ij c_j^k = 1 / ((k + 1) (k + 2)): the conditions for trees of height two.
    #[test]
    fn the_stages_are_consistent() {
        let weights = LINES[STAGES];
        for k in 1..7 {
            let sum: f64 = (0..STAGES)
                .map(|i| weights[i] * LINES[i].iter().zip(NODES).map(|(a, c)| a * c.powi(k)).sum::<f64>())
                .sum();
            assert!((sum - 1.0 / f64::from((k + 1) * (k + 2))).abs() < 1e-13, "degree {k}: {sum}");
        }
    }
}
