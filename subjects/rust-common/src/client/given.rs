//! Fields that need not be there.

use serde::{Deserialize, Deserializer};

/// Reads one that is: null is none of its values.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    field: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}
