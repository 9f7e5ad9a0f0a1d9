//! Files that answers are written to.

use super::{Failure, load};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// A file for an answer, opened before the work on it: a path that cannot be written is told before the work,
/// not after it.
pub(super) struct Answer {
    path: PathBuf,
    new: bool,
    written: bool,
}

impl Answer {
    /// Opens it, unless the answer is made from it.
    pub(super) fn open<'a>(
        path: &Path,
        mut from: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<Answer, Failure> {
        let same =
            |other: &PathBuf| path.canonicalize().is_ok_and(|p| other.canonicalize().is_ok_and(|o| o == p));
        if from.any(same) {
            return Err(Failure::Usage(format!(
                "cannot write {}: the answer is made from that file; give `--out` another name",
                path.display()
            )));
        }
        let new = !path.exists();
        match OpenOptions::new().append(true).create(true).open(path) {
            Ok(_) => Ok(Answer { path: path.to_path_buf(), new, written: false }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                Err(Failure::Usage(format!("cannot write {}: there is no such folder", path.display())))
            }
            Err(e) => Err(Failure::Usage(format!("cannot write {}: {}", path.display(), load::plain(&e)))),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(mut self, text: &str) -> Result<(), Failure> {
        self.written = true;
        std::fs::write(&self.path, text)
            .map_err(|e| Failure::Usage(format!("cannot write {}: {}", self.path.display(), load::plain(&e))))
    }
}

impl Drop for Answer {
    /// Leaves no empty file behind where there was none.
    fn drop(&mut self) {
        if self.new && !self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
