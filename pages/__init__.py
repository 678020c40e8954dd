"""The pages of the dashboard; `frame.py` is the entry script."""
