"""What in a file is to be judged, and as what."""
