//! The bytes that one end of a TCP connection sent, put in order, with the times at which they came to the link and were
//! delivered.

use std::collections::BTreeMap;

/// A segment that came to the link.
pub struct Segment<'a> {
    pub at_ns: u64,
    /// 0: it was not delivered.
    pub left_ns: u64,
    pub sequence: u32,
    pub syn: bool,
    pub payload: &'a [u8],
}

#[derive(Debug, Default)]
pub struct ByteStream {
    /// Up to the first byte that is not known.
    pub bytes: Vec<u8>,
    /// From which byte on when they first came.
    came: Vec<(usize, u64)>,
    /// Up to which byte all had been delivered when.
    delivered: Vec<(usize, u64)>,
}

impl ByteStream {
    /// In the order in which they came. The first byte is the one after the SYN, or the first that came where none is known.
    pub fn new(segments: &[Segment]) -> Self {
        let syn = segments.iter().find(|segment| segment.syn);
        let first = syn.map(|syn| syn.sequence.wrapping_add(1));
        let Some(first) = first.or(segments.first().map(|segment| segment.sequence)) else {
            return Self::default();
        };
        let placed: Vec<(usize, &Segment)> = segments
            .iter()
            .filter_map(|segment| Some((segment.offset(first)?, segment)))
            .filter(|(_, segment)| !segment.payload.is_empty())
            .collect();
        let mut stream = Self::default();
        stream.put_together(&placed);
        stream.note_delivery(placed);
        stream
    }

    /// When this byte first came. One that came before what precedes it, and again with that, may count as of the second
    /// time.
    pub fn came_ns(&self, place: usize) -> u64 {
        let after = self.came.partition_point(|&(start, _)| start <= place);
        after.checked_sub(1).map_or(0, |index| self.came[index].1)
    }

    /// When all bytes before this place had been delivered; 0: never.
    pub fn delivered_ns(&self, end: usize) -> u64 {
        let index = self.delivered.partition_point(|&(up_to, _)| up_to < end);
        self.delivered.get(index).map_or(0, |&(_, at_ns)| at_ns)
    }

    fn put_together(&mut self, placed: &[(usize, &Segment)]) {
        // Those that came before what precedes them.
        let mut early = BTreeMap::<(usize, usize), &Segment>::new();
        for (number, &(offset, segment)) in placed.iter().enumerate() {
            if offset > self.bytes.len() {
                early.insert((offset, number), segment);
                continue;
            }
            self.append(offset, segment);
            while let Some(entry) = early.first_entry()
                && entry.key().0 <= self.bytes.len()
            {
                let ((offset, _), segment) = entry.remove_entry();
                self.append(offset, segment);
            }
        }
    }

    /// What of it is new, of a segment that begins no later than what is known ends.
    fn append(&mut self, offset: usize, segment: &Segment) {
        let end = self.bytes.len();
        if let Some(fresh) = segment.payload.get(end - offset..)
            && !fresh.is_empty()
        {
            self.came.push((end, segment.at_ns));
            self.bytes.extend_from_slice(fresh);
        }
    }

    fn note_delivery(&mut self, mut placed: Vec<(usize, &Segment)>) {
        placed.retain(|(_, segment)| segment.left_ns > 0);
        placed.sort_by_key(|(_, segment)| segment.left_ns);
        let mut early = BTreeMap::<usize, usize>::new();
        let mut up_to = 0;
        for (offset, segment) in placed {
            let end = early.entry(offset).or_default();
            *end = (*end).max(offset + segment.payload.len());
            let before = up_to;
            while let Some(entry) = early.first_entry()
                && *entry.key() <= up_to
            {
                up_to = up_to.max(entry.remove());
            }
            if up_to > before {
                self.delivered.push((up_to, segment.left_ns));
            }
        }
    }
}

impl Segment<'_> {
    /// Of its payload, from the stream's first byte; None where it lies before it.
    fn offset(&self, first: u32) -> Option<usize> {
        let sequence = self.sequence.wrapping_add(self.syn.into());
        let offset = sequence.wrapping_sub(first);
        (offset < 1 << 31).then_some(offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(at_ns: u64, left_ns: u64, sequence: u32, payload: &[u8]) -> Segment<'_> {
        Segment { at_ns, left_ns, sequence, syn: payload.is_empty(), payload }
    }

    #[test]
    fn what_was_lost_is_there_when_it_has_been_sent_again() {
        let stream = ByteStream::new(&[
            segment(1, 11, u32::MAX, b""),
            segment(2, 12, 0, b"abc"),
            segment(3, 0, 3, b"def"),
            segment(4, 14, 6, b"ghi"),
            segment(9, 19, 3, b"def"),
        ]);
        assert_eq!(stream.bytes, b"abcdefghi");
        assert_eq!([0, 3, 8].map(|place| stream.came_ns(place)), [2, 3, 4]);
        let delivered = [3, 4, 9, 10].map(|end| stream.delivered_ns(end));
        assert_eq!(delivered, [12, 19, 19, 0]);
    }

    proptest! {
        /// However a text is cut, repeated and shuffled: it is put together as far as it is known.
        #[test]
        fn any_segments_make_the_same_text(
            cuts in prop::collection::vec((0usize..200, 0usize..60, any::<bool>()), 0..60),
            first in any::<u32>(),
        ) {
            let text: Vec<u8> = (0..200u8).collect();
            let mut segments = vec![segment(1, 1, first.wrapping_sub(1), b"")];
            let mut known = [(false, false); 200];
            for (&(start, length, delivered), at_ns) in cuts.iter().zip(2..) {
                let end = (start + length).min(200);
                if start == end {
                    continue;
                }
                let sequence = first.wrapping_add(start as u32);
                let left_ns = if delivered { at_ns } else { 0 };
                segments.push(segment(at_ns, left_ns, sequence, &text[start..end]));
                for byte in &mut known[start..end] {
                    *byte = (true, byte.1 || delivered);
                }
            }
            let stream = ByteStream::new(&segments);
            let prefix = known.iter().take_while(|(came, _)| *came).count();
            prop_assert_eq!(&stream.bytes, &text[..prefix]);
            let whole = known.iter().take_while(|(_, delivered)| *delivered).count();
            for end in 1..=200 {
                prop_assert_eq!(stream.delivered_ns(end) > 0, end <= whole);
            }
            for place in 0..prefix {
                let came = stream.came_ns(place);
                let holds = segments.iter().filter(|s| {
                    let start = s.sequence.wrapping_sub(first) as usize;
                    (start..start + s.payload.len()).contains(&place)
                });
                prop_assert!(holds.map(|s| s.at_ns).any(|at_ns| at_ns == came));
            }
        }
    }
}
