//! The two directions of a link.

use serde::Serialize;

/// Something of both directions.
#[derive(Debug, Default, Serialize)]
pub struct Ways<T> {
    pub up: T,
    pub down: T,
}

impl<T> Ways<T> {
    /// Direction 0 is `up`.
    pub fn way(&mut self, way: usize) -> &mut T {
        if way == 0 {
            &mut self.up
        } else {
            &mut self.down
        }
    }
}
