//! Where bytes come from: a file that can be opened twice, or text in memory.

use super::say;
use crate::source::{Diagnostic, nearest};
use std::io::{self, Read};
use std::path::Path;

/// Something to read.
pub enum Input<'a> {
    /// A regular file.
    Path(&'a Path),
    /// Bytes in memory.
    Bytes(&'a [u8]),
}

impl Input<'_> {
    /// Starts reading from the beginning.
    pub fn open(&self, name: &str) -> Result<Box<dyn Read + '_>, Diagnostic> {
        match self {
            Input::Path(path) => match std::fs::File::open(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(cannot_open(name, path, &error)),
            },
            Input::Bytes(bytes) => Ok(Box::new(*bytes)),
        }
    }

    /// All of it.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, Diagnostic> {
        let mut all = Vec::new();
        self.open(name)?.read_to_end(&mut all).map_err(|e| unreadable(name, &e))?;
        Ok(all)
    }

    /// Its length in bytes, where known.
    pub fn size(&self) -> Option<u64> {
        match self {
            Input::Path(path) => std::fs::metadata(path).ok().map(|m| m.len()),
            Input::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }
}

/// A file that broke off while being read.
pub fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::error("unreadable-file", format!("cannot read {name}: {}", reason(error)))
        .place(say::file(name))
}

/// A file that cannot be opened, with the name in the same folder that may have been meant.
pub fn cannot_open(name: &str, path: &Path, error: &io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error("unreadable-file", format!("cannot open {name}: {}", reason(error)));
    let diagnostic = diagnostic.place(say::file(name));
    match neighbour(path) {
        Some(near) if error.kind() == io::ErrorKind::NotFound => {
            diagnostic.help(format!("did you mean `{near}`, in the same folder?"))
        }
        _ if error.kind() == io::ErrorKind::IsADirectory => {
            diagnostic.help("name the files in it that hold the data")
        }
        _ => diagnostic,
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        _ => error.to_string(),
    }
}

fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(String::from)
}
