//! The command line, the manual and the house itself.

mod command_line;
mod house;
mod manual;
mod prose;
