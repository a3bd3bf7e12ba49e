"""Audits the campaign's files, which must not change after the trials wrote them."""

from h123.analysis.audits.finding import CampaignAudit, Finding
from h123.analysis.case import Case

FILES_CHANGED = "files-changed"
MEANINGS = {
    FILES_CHANGED: "The files of each trial are as the trial left them, according to digests made when it ended. "
    "Campaigns of earlier versions have no digests, so only missing files are noticed."
}


def files_changed(case: Case) -> CampaignAudit:
    """Check that every trial with valid attempts still has a valid attempt with unchanged files."""
    events = [event for event in case.facts.events if event["event"] == "trial" and event["valid"]]
    damaged = case.evidence.damaged_trials()
    sealed = {event["trial"]: event for event in events if event.get("seal")}
    # Use the planned order, because parallel trials end in a different one.
    places = {trial.id: place for place, trial in enumerate(case.plan.trials())}
    ordered = sorted(sealed, key=lambda trial: places.get(trial, len(places)))
    findings = [Finding(True, None, None, f"{trial}: as it was sealed") for trial in ordered if trial not in damaged]
    findings += [Finding(False, None, None, damage) for damage in damaged.values()]
    which = f"{len(damaged)} of {len({event['trial'] for event in events})} trials"
    cure = "import the samples again" if case.facts.imported else "`h123 run --out DIR` repeats just these trials"
    return CampaignAudit(
        FILES_CHANGED,
        MEANINGS[FILES_CHANGED],
        f"The files of {which} have changed or gone missing since these were measured "
        f"({_some(list(damaged.values()))}). These trials are left out of the analysis. Restore the files "
        f"from a copy; or {cure}.",
        findings,
    )


def _some(damage: list[str]) -> str:
    return "; ".join(damage[:3]) + (f"; and {len(damage) - 3} more" if len(damage) > 3 else "")
