//! quiche's C interface: its functions are exported by quiche itself, here they only get a library of their own.

pub use quiche;
