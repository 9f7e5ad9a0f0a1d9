//! Which parts make a method together: refuses what makes no sense and names what does.

use super::Error;
use super::average::Average;
use super::estimator::{Estimates, Estimator};
use super::factor::{ProxWith, Space};
use super::method::Config;
use super::noise::{Geometry, Quadratic};
use super::operator::Operator;
use super::step::{Needs, Rule};
use super::table::{Choice, Row};

/// A configuration that has been found sound, with its open choices made.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// The step rule.
    pub step: Choice<Rule>,
    /// The average.
    pub average: Choice<Average>,
    /// `a` and what is known of `b`, where a theorem bounds the noise of the estimator.
    pub noise: Option<Quadratic>,
}

impl Config {
    /// Checks that the parts fit each other and this dimension, and makes the choices left open.
    pub fn resolve(&self, dimension: usize) -> Result<Resolved, Error> {
        self.check_numbers(dimension)?;
        self.check_parts()?;
        let noise = self.noise(dimension);
        let step = match self.step {
            Some(step) => step,
            None => self.default_step(noise)?,
        };
        self.check_step(step.row, noise)?;
        let average = match self.average {
            Some(average) => average,
            None => Choice::named(step.row.average)?,
        };
        self.check_average(average.row, step.row, noise)?;
        (self.draws.make)(dimension, self.batch)?;
        Ok(Resolved { step, average, noise })
    }

    /// Checks that factor, estimator and operator fit each other.
    pub fn check_parts(&self) -> Result<(), Error> {
        self.check_estimator()?;
        self.check_operator()
    }

    /// `a` and what is known of `b` before the fit, if `M` is known and a theorem covers the estimator.
    fn noise(&self, dimension: usize) -> Option<Quadratic> {
        let kurtosis = (self.family.row.kurtosis)(self.family.value);
        let geometry = Geometry::before_fit(dimension, kurtosis, self.constants?);
        (self.estimator.noise)(&geometry)
    }

    /// The rule of the theorem that covers these parts, if the constants are known, or the practical one.
    fn default_step(&self, noise: Option<Quadratic>) -> Result<Choice<Rule>, Error> {
        let strong = self.constants.map_or(f64::NAN, |c| c.strong_concavity);
        let needed = if strong > 0.0 { Needs::StrongConcavity } else { Needs::Smoothness };
        let theorem = Rule::table().iter().find(|rule| {
            rule.needs == needed && rule.guarantee.is_some_and(|g| g.operator == self.operator.name)
        });
        match theorem {
            Some(rule) if noise.is_some() && strong >= 0.0 => Choice::named(rule.name),
            _ => Choice::named("curvature"),
        }
    }

    fn check_numbers(&self, dimension: usize) -> Result<(), Error> {
        let refuse = |field, expected: &str, found: usize| {
            Err(Error::Configuration { field, expected: expected.into(), found: found.to_string() })
        };
        if dimension == 0 {
            return refuse(
                "the dimension of the target",
                "at least 1 (a model without parameters needs no fit)",
                0,
            );
        }
        if self.steps == 0 || self.steps > 1 << 31 {
            return refuse("steps", "between 1 and 2³¹", self.steps);
        }
        if self.batch == 0 || self.batch > 1 << 16 {
            return refuse("batch", "between 1 and 65536", self.batch);
        }
        if self.elbo_draws < 2 {
            return refuse("elbo_draws", "at least 2, or the ELBO has no standard error", self.elbo_draws);
        }
        if self.threads == 0 {
            return refuse("threads", "at least 1", 0);
        }
        Ok(())
    }

    fn check_estimator(&self) -> Result<(), Error> {
        let (estimator, operator) = (self.estimator, self.operator);
        if estimator.estimates == operator.expects {
            return Ok(());
        }
        let (e, o) = (estimator.name, operator.name);
        let problem = match operator.expects {
            Estimates::FreeEnergy => {
                format!("the operator '{o}' adds the entropy itself, and the estimator '{e}' has it already")
            }
            Estimates::Objective => {
                format!("the operator '{o}' does not add the entropy, and the estimator '{e}' leaves it out")
            }
        };
        let estimators = names(|r: &Estimator| r.estimates == operator.expects);
        let operators = names(|r: &Operator| r.expects == estimator.estimates);
        let instead =
            format!("with '{o}' use the estimator {estimators}; with '{e}' use the operator {operators}");
        Err(Error::Combination { problem, instead })
    }

    fn check_operator(&self) -> Result<(), Error> {
        if !self.operator.floors || self.factor.projects {
            return Ok(());
        }
        Err(Error::Combination {
            problem: format!(
                "the projection onto singular values of at least 1/√M has no closed form for the factor '{}'",
                self.factor.name
            ),
            instead: format!("use the factor {}, or the operator 'prox'", names(|s: &Space| s.projects)),
        })
    }

    fn check_step(&self, rule: &'static Rule, noise: Option<Quadratic>) -> Result<(), Error> {
        let refuse = |problem: String, instead: String| Err(Error::Combination { problem, instead });
        if rule.each && self.operator.name == "prox" && self.factor.prox == ProxWith::OneStep {
            return refuse(
                format!(
                    "'{}' gives each coordinate a step of its own, and the prox for the factor '{}' has a closed \
                         form only for one common step",
                    rule.name, self.factor.name
                ),
                format!("use the factor {}", names(|s: &Space| s.prox == ProxWith::AnySteps)),
            );
        }
        if rule.needs == Needs::Nothing {
            return Ok(());
        }
        if let Some(g) = rule.guarantee.filter(|g| g.operator != self.operator.name) {
            let fitting = names(|r: &Rule| {
                r.needs == Needs::Nothing || r.guarantee.is_some_and(|h| h.operator == self.operator.name)
            });
            return refuse(
                format!(
                    "the step rule '{}' is that of a theorem about the operator '{}', not '{}'",
                    rule.name, g.operator, self.operator.name
                ),
                format!("with '{}' use {fitting}", self.operator.name),
            );
        }
        if rule.name == "stl_gaussian" && self.estimator.name != "stl" {
            return refuse(
                format!(
                    "the step rule 'stl_gaussian' is that of a theorem about the estimator 'stl', not '{}'",
                    self.estimator.name
                ),
                "use the estimator 'stl', or another step rule".into(),
            );
        }
        let known = self.constants.is_some_and(|c| match rule.needs {
            Needs::Nothing => true,
            Needs::Smoothness => c.smoothness > 0.0 && c.strong_concavity >= 0.0,
            Needs::StrongConcavity => c.smoothness > 0.0 && c.strong_concavity > 0.0,
        });
        if !known {
            let instead = Rule::table().iter().filter(|r| r.needs == Needs::Nothing).map(Row::name).collect();
            return Err(Error::MissingConstants { rule: rule.name, needs: rule.needs.words(), instead });
        }
        if noise.is_none() {
            return refuse(
                format!(
                    "no theorem bounds the noise of the estimator '{}' with the family '{}', so the step rule '{}' \
                         has no value",
                    self.estimator.name, self.family.row.name, rule.name
                ),
                format!("use the step rule {}", names(|r: &Rule| r.needs == Needs::Nothing)),
            );
        }
        Ok(())
    }

    fn check_average(
        &self,
        average: &'static Average,
        rule: &'static Rule,
        noise: Option<Quadratic>,
    ) -> Result<(), Error> {
        let Some(operator) = average.theorem else { return Ok(()) };
        let refuse = |problem: String, instead: String| Err(Error::Combination { problem, instead });
        let fits = |a: &Average| a.theorem.is_none_or(|o| o == self.operator.name);
        if !fits(average) {
            return refuse(
                format!(
                    "the average '{}' is that of a theorem about the operator '{operator}', not '{}'",
                    average.name, self.operator.name
                ),
                format!("use the average {}", names(fits)),
            );
        }
        let constant =
            |r: &Rule| r.name == "constant" || r.guarantee.is_some_and(|g| g.average == average.name);
        if noise.is_some() && constant(rule) {
            return Ok(());
        }
        refuse(
            format!(
                "the average '{}' is that of a theorem: it needs the constants of the target, an estimator with a proved \
                 noise bound and a constant step",
                average.name
            ),
            format!(
                "use the average {}, or, where the constants are certified, the step rule {}",
                names(|a: &Average| a.theorem.is_none()),
                names(constant)
            ),
        )
    }
}

/// The names of the rows that pass, quoted, with 'or' before the last.
fn names<R: Row>(passes: impl Fn(&R) -> bool) -> String {
    let quoted: Vec<String> =
        R::table().iter().filter(|r| passes(r)).map(|r| format!("'{}'", r.name())).collect();
    match quoted.split_last() {
        None => "none of them".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
