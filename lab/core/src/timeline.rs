//! A value that changes at known times.

/// Values, each in force from its time until the next one's, visited in order of time.
pub(crate) struct Timeline<T> {
    values: Vec<(u64, T)>,
    current: usize,
}

impl<T> Timeline<T> {
    /// `changes` in order of time, ns.
    pub fn new(first: T, changes: impl Iterator<Item = (u64, T)>) -> Self {
        Timeline { values: std::iter::once((0, first)).chain(changes).collect(), current: 0 }
    }

    /// The value in force at `time`, which must not go back between calls, and the time it is in force until
    /// (`None`: for ever).
    pub fn at(&mut self, time: u64) -> (&mut T, Option<u64>) {
        let start = |values: &[(u64, T)], index: usize| values.get(index).map(|value| value.0);
        while start(&self.values, self.current + 1).is_some_and(|next| next <= time) {
            self.current += 1;
        }
        let until = start(&self.values, self.current + 1);
        (&mut self.values[self.current].1, until)
    }
}
