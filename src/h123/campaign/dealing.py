"""Which place does which block: each is whole in one, since only there all else is equal."""

from collections.abc import Mapping, Sequence

from h123.campaign.again import Event, given_up, settled, usable
from h123.campaign.post import Post
from h123.documents.events import Moved, superseded
from h123.study import PlannedTrial
from h123.trial import PlaceLost

GONE = "this place is not there any more"


class Dealing:
    """Deals a campaign's blocks to its places; a place that fails loses those that are not finished."""

    def __init__(
        self,
        blocks: Sequence[Sequence[PlannedTrial]],
        posts: Sequence[Post],
        attempts: Mapping[str, Sequence[Event]],
    ) -> None:
        self._blocks = {block[0].block: block for block in blocks}
        self._attempts = attempts
        self.posts = list(posts)
        """Those that have not failed."""
        tried = [event for events in attempts.values() for event in events if not superseded(event)]
        self._homes = {event["block"]: event["place"] for event in tried if "place" in event}
        self._lost = dict[str, str]()
        self._undealt = [number for number in self._blocks if self._needs_place(number)]

    @property
    def undealt(self) -> list[PlannedTrial]:
        """What waits for a place."""
        return [t for n in self._undealt for t in self._blocks[n] if not settled(self._attempts[t.id])]

    def home(self, block: int) -> Post | None:
        """Where the block is done; None where that place has gone. Earlier versions named none: they had one."""
        name = self._homes.get(block, self.posts[0].place.name)
        return next((post for post in self.posts if post.place.name == name), None)

    def deal(self, post: Post) -> tuple[list[PlannedTrial], list[Moved]]:
        """What to run next in a place in which nothing waits, and which blocks have moved there: their trials are all
        done again. A block at a time, so that a fast place gets more of them; where there is only one, all."""
        free = [n for n in self._undealt if n not in self._homes or self.home(n) in (post, None)]
        dealt = free if len(self.posts) == 1 else free[:1]
        self._undealt = [number for number in self._undealt if number not in dealt]
        moved = [self._moved(number, post) for number in dealt if not self.home(number)]
        self._homes |= dict.fromkeys(dealt, post.place.name)
        again = {event["block"] for event in moved}
        ordered = post.lanes.order([self._blocks[number] for number in dealt])
        return [t for t in ordered if t.block in again or not settled(self._attempts[t.id])], moved

    def lose(self, lost: PlaceLost) -> Post:
        """The place goes out. Raises what it is given where it is the last one."""
        name = lost.place.name
        if [post.place.name for post in self.posts] == [name]:
            raise lost
        gone = next(post for post in self.posts if post.place.name == name)
        self.posts.remove(gone)
        self._lost[name] = lost.message
        homeless = [number for number, home in self._homes.items() if home == name and self._needs_place(number)]
        self._undealt = sorted({*self._undealt, *homeless})
        return gone

    def _needs_place(self, block: int) -> bool:
        """Whether a trial of it is to be tried; or to be repeated because none of its attempts counts, and cannot be
        where it was."""
        tried = [self._attempts[trial.id] for trial in self._blocks[block]]
        ended = all(usable(events) or given_up(events) for events in tried)
        return not all(map(settled, tried)) or (self.home(block) is None and not ended)

    def _moved(self, block: int, post: Post) -> Moved:
        before = self._homes[block]
        why = self._lost.get(before, GONE)
        return {"event": "moved", "block": block, "place": post.place.name, "before": before, "why": why}
