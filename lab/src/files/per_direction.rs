//! The two directions of a link.

use serde::Serialize;

/// The index of each direction.
pub const UP: usize = 0;
pub const DOWN: usize = 1;

/// One value for each direction.
#[derive(Debug, Default, Serialize)]
pub struct PerDirection<T> {
    pub up: T,
    pub down: T,
}

impl<T> PerDirection<T> {
    /// Direction 0 is `up`.
    pub fn of(&mut self, way: usize) -> &mut T {
        if way == 0 { &mut self.up } else { &mut self.down }
    }
}
