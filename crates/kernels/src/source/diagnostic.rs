//! What is wrong, where, and what to do about it: the one error type that users see.

use super::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The model or the data cannot be used.
    Error,
    /// It can be used, but probably not as meant.
    Warning,
}

/// A marked place in the model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What is marked.
    pub span: Span,
    /// What is said of it; may be empty.
    pub text: String,
}

/// A marked place in a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// Line of the file, from 1, where it is known.
    pub line: Option<usize>,
    /// The column by name (or by position, from 1, when it has none), where it is known.
    pub column: Option<String>,
    /// The offending text, shortened to fit a line, where it is known.
    pub content: Option<String>,
}

/// One problem with a model or its data. Built where it is found, rendered once, at the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A short stable name such as `unknown-name`, for tests and for searching the manual.
    pub code: &'static str,
    /// One sentence, no full stop, that says what is wrong.
    pub message: String,
    /// Places in the model; the first is the main one.
    pub labels: Vec<Label>,
    /// Places in data files.
    pub places: Vec<Place>,
    /// Facts that help to understand the problem.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with a code and a message; add the rest with the methods below.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: Vec::new(),
            places: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning with a code and a message.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Marks a place in the model.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Marks a place in a data file.
    pub fn place(mut self, place: Place) -> Self {
        self.places.push(place);
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to write instead.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Diagnostic {}
