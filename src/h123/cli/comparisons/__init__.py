"""Contains the commands that compare builds and servers (compare), results with conditions (gate), and two campaigns
(diff)."""
