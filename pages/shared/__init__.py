"""What the lessons share."""
