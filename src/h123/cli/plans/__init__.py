"""`h123 plan`: shows what a campaign will run, before it runs."""
