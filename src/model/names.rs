//! What each name means at a place of the model.

use super::elements::Elements;
use super::types::{Levels, Type};
use crate::syntax::ast::FnDecl;
use std::collections::HashMap;
use std::rc::Rc;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A value.
    Value(Type),
    /// An array that is defined element by element.
    Elements(Elements),
    /// A function of the model.
    Function(Rc<FnDecl>),
}

/// Names in scope, innermost last. The first scope holds sizes and functions, which are visible everywhere.
#[derive(Debug)]
pub struct Names {
    scopes: Vec<HashMap<String, Meaning>>,
    /// The levels that a size counts.
    levels: HashMap<String, Levels>,
}

impl Default for Names {
    fn default() -> Self {
        Self { scopes: vec![HashMap::new(), HashMap::new()], levels: HashMap::new() }
    }
}

impl Names {
    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<&Meaning> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    /// The value of a name, if it is one.
    pub fn value(&self, name: &str) -> Option<&Type> {
        match self.get(name) {
            Some(Meaning::Value(ty)) => Some(ty),
            Some(Meaning::Elements(_) | Meaning::Function(_)) | None => None,
        }
    }

    /// The function of a name, if it is one of the model's own.
    pub fn function(&self, name: &str) -> Option<Rc<FnDecl>> {
        match self.get(name) {
            Some(Meaning::Function(f)) => Some(f.clone()),
            Some(Meaning::Value(_) | Meaning::Elements(_)) | None => None,
        }
    }

    /// Whether a scope other than that of sizes has a meaning for this name.
    pub fn is_taken(&self, name: &str) -> bool {
        self.scopes.iter().skip(1).any(|s| s.contains_key(name))
    }

    /// Whether the innermost scope has a meaning for this name.
    pub fn is_taken_here(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(|s| s.contains_key(name))
    }

    /// Whether this name is a size.
    pub fn is_size(&self, name: &str) -> bool {
        matches!(self.scopes[0].get(name), Some(Meaning::Value(_)))
    }

    /// Gives a name a meaning in the innermost scope.
    pub fn set(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), meaning);
        }
    }

    /// Gives a size or function a meaning that is visible everywhere.
    pub fn set_everywhere(&mut self, name: &str, meaning: Meaning) {
        self.scopes[0].insert(name.to_string(), meaning);
    }

    /// The array of elements called `name`, made in the scope outside all loops if it is new.
    pub fn elements(&mut self, name: &str) -> &mut Elements {
        let holds = |s: &HashMap<String, Meaning>| matches!(s.get(name), Some(Meaning::Elements(_)));
        let depth = self.scopes.iter().rposition(holds).unwrap_or(1);
        let slot = self.scopes[depth]
            .entry(name.to_string())
            .or_insert_with(|| Meaning::Elements(Elements::default()));
        if !matches!(slot, Meaning::Elements(_)) {
            *slot = Meaning::Elements(Elements::default());
        }
        match slot {
            Meaning::Elements(elements) => elements,
            Meaning::Value(_) | Meaning::Function(_) => unreachable!("made an array of elements just above"),
        }
    }

    /// Goes back to the scopes outside all blocks.
    pub fn leave_blocks(&mut self) {
        self.scopes.truncate(2);
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Closes the innermost scope.
    pub fn pop(&mut self) {
        self.scopes.pop();
    }

    /// Enters a function's body: only what is visible everywhere, and a fresh scope. Gives back what to
    /// restore.
    pub fn enter_function(&mut self) -> Vec<HashMap<String, Meaning>> {
        let outside = self.scopes.split_off(1);
        self.scopes.push(HashMap::new());
        outside
    }

    /// Restores what was outside.
    pub fn leave_function(&mut self, outside: Vec<HashMap<String, Meaning>>) {
        self.scopes.truncate(1);
        self.scopes.extend(outside);
    }

    /// What all names mean now, to go back to it.
    pub fn snapshot(&self) -> Vec<HashMap<String, Meaning>> {
        self.scopes.clone()
    }

    /// Goes back to what names meant; gives what they mean now.
    pub fn replace(&mut self, scopes: Vec<HashMap<String, Meaning>>) -> Vec<HashMap<String, Meaning>> {
        std::mem::replace(&mut self.scopes, scopes)
    }

    /// Adds the meanings that another branch of a choice has given: names that both have mean either.
    pub fn join(
        &mut self,
        other: Vec<HashMap<String, Meaning>>,
        either: impl Fn(&Meaning, &Meaning) -> Meaning,
    ) {
        for (own, other) in self.scopes.iter_mut().zip(other) {
            for (name, meaning) in other {
                match own.get_mut(&name) {
                    Some(slot) => *slot = either(slot, &meaning),
                    None => drop(own.insert(name, meaning)),
                }
            }
        }
    }

    /// Says which levels a size counts.
    pub fn set_levels(&mut self, size: &str, levels: Levels) {
        self.levels.insert(size.to_string(), levels);
    }

    /// The levels that a size counts.
    pub fn levels(&self, size: &str) -> Option<Levels> {
        self.levels.get(size).cloned()
    }

    /// Categories among the data, by name.
    pub fn categories(&self) -> impl Iterator<Item = (&str, &Type, &Levels)> {
        self.scopes.iter().flatten().filter_map(|(name, meaning)| match meaning {
            Meaning::Value(ty) => Some((name.as_str(), ty, ty.levels.as_ref()?)),
            Meaning::Elements(_) | Meaning::Function(_) => None,
        })
    }

    /// All names, for suggestions.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().flat_map(|s| s.keys().map(String::as_str))
    }
}
