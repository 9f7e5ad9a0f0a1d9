//! What each name means while a model is lowered.

use super::axes::Axes;
use super::elements::Elements;
use crate::data::Levels;
use crate::graph::{Builder, NodeId};
use crate::syntax::ast::FnDecl;
use std::collections::HashMap;
use std::sync::Arc;

/// A value of the model.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its node.
    pub node: NodeId,
    /// Whether its numbers are integers.
    pub integer: bool,
    /// Whether it comes, in part at least, from declared data.
    pub from_data: bool,
    /// Its levels, for a category.
    pub levels: Option<Arc<Levels>>,
    /// For each axis the levels that its places stand for; of no meaning where it is not as long as the
    /// shape.
    pub axes: Axes,
}

impl Value {
    /// A real value computed from others.
    pub fn real(node: NodeId, from_data: bool) -> Self {
        Self::plain(node, false, from_data)
    }

    /// An integer value.
    pub fn integer(node: NodeId, from_data: bool) -> Self {
        Self::plain(node, true, from_data)
    }

    /// A value without levels or labels.
    pub fn plain(node: NodeId, integer: bool, from_data: bool) -> Self {
        Self { node, integer, from_data, levels: None, axes: Axes::new() }
    }

    /// The same with what its axes stand for.
    pub(super) fn along(self, axes: Axes) -> Self {
        Self { axes, ..self }
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Value(Value),
    Elements(Elements),
    Function(Arc<FnDecl>),
}

/// Names in scope, innermost last. The first scope holds sizes and functions, which are visible everywhere.
#[derive(Debug)]
pub(super) struct Env {
    scopes: Vec<HashMap<String, Binding>>,
    /// Levels that a size counts.
    levels: HashMap<String, Arc<Levels>>,
    /// What the number of levels of a category is called.
    level_counts: HashMap<String, String>,
}

impl Default for Env {
    fn default() -> Self {
        Self {
            scopes: vec![HashMap::new(), HashMap::new()],
            levels: HashMap::new(),
            level_counts: HashMap::new(),
        }
    }
}

impl Env {
    pub(super) fn get(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    /// Binds a name in the innermost scope.
    pub(super) fn set(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), binding);
        }
    }

    /// Binds a size or function, visible everywhere.
    pub(super) fn set_everywhere(&mut self, name: &str, binding: Binding) {
        self.scopes[0].insert(name.to_string(), binding);
    }

    /// The array of elements called `name`, made in the scope outside all loops if it is new.
    pub(super) fn elements(&mut self, name: &str) -> &mut Elements {
        let depth =
            self.scopes.iter().rposition(|s| matches!(s.get(name), Some(Binding::Elements(_)))).unwrap_or(1);
        let slot = self.scopes[depth]
            .entry(name.to_string())
            .or_insert_with(|| Binding::Elements(Elements::default()));
        if !matches!(slot, Binding::Elements(_)) {
            *slot = Binding::Elements(Elements::default());
        }
        match slot {
            Binding::Elements(elements) => elements,
            Binding::Value(_) | Binding::Function(_) => unreachable!("made an array of elements just above"),
        }
    }

    /// The arrays of elements with these names as they are now, to restore them later.
    pub(super) fn elements_before(&self, names: &[&str]) -> Vec<(usize, String, Option<Binding>)> {
        let holds =
            |s: &HashMap<String, Binding>, name: &str| matches!(s.get(name), Some(Binding::Elements(_)));
        let before = |name: &&str| {
            let depth = self.scopes.iter().rposition(|s| holds(s, name)).unwrap_or(1);
            (depth, name.to_string(), self.scopes[depth].get(*name).cloned())
        };
        names.iter().map(before).collect()
    }

    pub(super) fn restore_elements(&mut self, before: Vec<(usize, String, Option<Binding>)>) {
        for (depth, name, binding) in before {
            match binding {
                Some(binding) => self.scopes[depth].insert(name, binding),
                None => self.scopes[depth].remove(&name),
            };
        }
    }

    pub(super) fn push(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn pop(&mut self) {
        self.scopes.pop();
    }

    /// Enters a function's body: only what is visible everywhere, and a fresh scope. Gives back what to
    /// restore.
    pub(super) fn enter_function(&mut self) -> Vec<HashMap<String, Binding>> {
        let outside = self.scopes.split_off(1);
        self.scopes.push(HashMap::new());
        outside
    }

    pub(super) fn leave_function(&mut self, outside: Vec<HashMap<String, Binding>>) {
        self.scopes.truncate(1);
        self.scopes.extend(outside);
    }

    /// Gives the sizes and other constants that are visible everywhere nodes in another graph. Gives back
    /// what to restore.
    pub(super) fn move_sizes(&mut self, from: &Builder, to: &mut Builder) -> HashMap<String, Binding> {
        let before = self.scopes[0].clone();
        for binding in self.scopes[0].values_mut() {
            if let Binding::Value(value) = binding
                && let Some(numbers) = from.constant_of(value.node)
            {
                value.node = to.constant(numbers.clone(), from.dims(value.node).to_vec());
            }
        }
        before
    }

    pub(super) fn restore_sizes(&mut self, before: HashMap<String, Binding>) {
        self.scopes[0] = before;
    }

    pub(super) fn set_levels(&mut self, size: &str, levels: Arc<Levels>) {
        self.levels.insert(size.to_string(), levels);
    }

    /// The levels that a size counts.
    pub(super) fn levels(&self, size: &str) -> Option<Arc<Levels>> {
        self.levels.get(size).cloned()
    }

    /// The sizes and whole numbers that are visible everywhere, with what they are.
    pub(super) fn sizes(&self, b: &Builder) -> impl Iterator<Item = (String, i64)> {
        self.scopes[0].iter().filter_map(|(name, binding)| {
            let Binding::Value(value) = binding else { return None };
            let number = b.scalar_of(value.node).filter(|x| value.integer && x.fract() == 0.0)?;
            Some((name.clone(), number as i64))
        })
    }

    /// The size that counts these levels, if only one does.
    pub(super) fn size_of_levels(&self, levels: &Levels) -> Option<&str> {
        let mut all = self.levels.iter().filter(|(_, known)| ***known == *levels).map(|(size, _)| size);
        all.next().filter(|_| all.next().is_none()).map(String::as_str)
    }

    pub(super) fn set_level_count(&mut self, category: &str, size: &str) {
        self.level_counts.insert(category.to_string(), size.to_string());
    }

    /// What the number of levels of a category is called, where it has a name.
    pub(super) fn level_count(&self, category: &str) -> Option<&str> {
        self.level_counts.get(category).map(String::as_str)
    }

    /// Categories among the data, by name.
    pub(super) fn categories(&self) -> impl Iterator<Item = (&str, NodeId, &Levels)> {
        self.scopes.iter().flatten().filter_map(|(name, binding)| match binding {
            Binding::Value(Value { node, levels: Some(levels), .. }) => {
                Some((name.as_str(), *node, &**levels))
            }
            Binding::Value(_) | Binding::Elements(_) | Binding::Function(_) => None,
        })
    }
}
