"""Contains the commands that compare servers (compare), settings (tune), trials with a change (what-if), results with
conditions (gate), and two campaigns (diff)."""
